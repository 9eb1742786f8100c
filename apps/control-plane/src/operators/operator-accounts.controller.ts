import { valid } from '@dormouse/http-server';
import {
  operatorAccountsQuery,
  type OperatorAccount,
  type OperatorAccountList,
  type OperatorAccountsQuery,
} from '@dormouse/management-contract';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { OperatorAccounts } from './operator-accounts.js';

@Controller('operators/accounts')
export class OperatorAccountsController {
  constructor(private readonly accounts: OperatorAccounts) {}

  @Get()
  list(@Query(valid(operatorAccountsQuery)) query: OperatorAccountsQuery): Promise<OperatorAccountList> {
    return this.accounts.list(query);
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<OperatorAccount> {
    return this.accounts.get(id);
  }
}
