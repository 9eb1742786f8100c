import type { AccountRecord } from '@dormouse/management-contract';
import { Controller, Get } from '@nestjs/common';
import { CurrentAccount } from './account.guard.js';
import type { Account } from './accounts.js';

@Controller('account')
export class AccountsController {
  @Get()
  get(@CurrentAccount() account: Account): AccountRecord {
    return { id: account.id, name: account.name, created_at: Math.floor(account.createdAt.getTime() / 1_000) };
  }
}
