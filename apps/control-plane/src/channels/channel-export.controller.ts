import { Readable } from 'node:stream';
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentAccount, CurrentCause } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { ChannelExport } from './channel-export.js';

@Controller('channels/:id/export')
export class ChannelExportController {
  constructor(private readonly exported: ChannelExport) {}

  @Get()
  async export(
    @CurrentAccount() account: Account,
    @CurrentCause() cause: Cause,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const text = await this.exported.begin(account.id, id, cause);
    void reply
      .type('application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${id}.json"`)
      .send(Readable.from(text));
  }
}
