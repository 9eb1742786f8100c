import { Readable } from 'node:stream';
import { appendAudit } from '@dormouse/audit-log';
import type { GlobalDatabase } from '@dormouse/database';
import { valid } from '@dormouse/http-server';
import { endAccountBody, type EndAccountBody } from '@dormouse/management-contract';
import { Body, Controller, Delete, Get, HttpCode, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentAccount, CurrentCaller, CurrentCause } from '../accounts/account.guard.js';
import { shownMembership } from '../accounts/accounts.controller.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import type { Cause } from '../accounts/cause.js';
import { GLOBAL_DATABASE } from '../services.js';
import { AccountExporter } from './account-export.js';
import { EndedAccounts } from './ended-accounts.js';

/** The end of an account, and what to take along. */
@Controller('account')
export class EndingController {
  constructor(
    private readonly exporter: AccountExporter,
    private readonly ended: EndedAccounts,
    @Inject(GLOBAL_DATABASE) private readonly database: GlobalDatabase,
  ) {}

  @Get('export')
  async export(
    @CurrentCaller() caller: Caller,
    @CurrentCause() cause: Cause,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { account } = caller;
    const object = { kind: 'account', id: account.id };
    await appendAudit(this.database.pool, { ...cause, accountId: account.id, object, action: 'account.export' });
    const role = caller.kind === 'user' ? { role: caller.role } : {};
    const text = this.exporter.text(caller, shownMembership({ account, ...role }));
    void reply
      .type('application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${account.id}.json"`)
      .send(Readable.from(text));
  }

  @Delete()
  @HttpCode(204)
  end(
    @CurrentAccount() account: Account,
    @CurrentCause() cause: Cause,
    @Body(valid(endAccountBody)) { name }: EndAccountBody,
  ): Promise<void> {
    return this.ended.begin(account.id, name, cause);
  }
}
