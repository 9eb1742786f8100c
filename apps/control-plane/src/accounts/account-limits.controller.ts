import { valid } from '@dormouse/http-server';
import { accountLimits, type AccountLimits } from '@dormouse/management-contract';
import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { CurrentCause } from './account.guard.js';
import { Accounts } from './accounts.js';
import type { Cause } from './cause.js';

/** What operators set for an account. */
@Controller('operators/accounts/:id/limits')
export class AccountLimitsController {
  constructor(private readonly accounts: Accounts) {}

  @Get()
  get(@Param('id') id: string): Promise<AccountLimits> {
    return this.accounts.limits(id);
  }

  @Put()
  set(
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(accountLimits)) body: AccountLimits,
  ): Promise<AccountLimits> {
    return this.accounts.setLimits(id, body, cause);
  }
}
