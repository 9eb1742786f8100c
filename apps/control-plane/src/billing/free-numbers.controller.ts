import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { valid } from '@dormouse/http-server';
import { freeNumbersBody, type FreeNumbers, type FreeNumbersBody } from '@dormouse/management-contract';
import { Body, Controller, Delete, Get, Inject, Param, Put } from '@nestjs/common';
import { CurrentCause } from '../accounts/account.guard.js';
import type { Cause } from '../accounts/cause.js';
import { GLOBAL_DATABASE } from '../services.js';
import { Billing } from './billing.js';

/** Free numbers that operators give an account, beside those of every account. */
@Controller('fleet/accounts/:account/free-numbers')
export class FreeNumbersController {
  constructor(
    @Inject(Billing) private readonly billing: Billing,
    @Inject(GLOBAL_DATABASE) private readonly database: Pick<GlobalDatabase, 'prisma'>,
  ) {}

  @Get()
  async get(@Param('account') account: string): Promise<FreeNumbers> {
    return this.billing.freeNumbers(await this.#existing(account));
  }

  @Put()
  async give(
    @Param('account') account: string,
    @CurrentCause() cause: Cause,
    @Body(valid(freeNumbersBody)) body: FreeNumbersBody,
  ): Promise<FreeNumbers> {
    return this.billing.giveFreeNumbers(await this.#existing(account), body, cause);
  }

  @Delete()
  async end(@Param('account') account: string, @CurrentCause() cause: Cause): Promise<FreeNumbers> {
    return this.billing.endFreeNumbers(await this.#existing(account), cause);
  }

  /** @throws {GatewayError} 404 */
  async #existing(id: string): Promise<string> {
    const account = await this.database.prisma.account.findUnique({ where: { id }, select: { id: true } });
    if (account) return account.id;
    throw new GatewayError(404, { message: 'account not found', details: 'there is no account with this id' });
  }
}
