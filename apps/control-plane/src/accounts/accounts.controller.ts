import { valid } from '@dormouse/http-server';
import { accountBody, type AccountBody, type AccountList, type AccountRecord } from '@dormouse/management-contract';
import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { CurrentCaller, CurrentCause, SignedIn } from './account.guard.js';
import { Accounts, type Membership } from './accounts.js';
import type { Caller } from './caller.js';
import type { Cause } from './cause.js';
import type { SignedInUser } from '../users/user-sessions.js';

@Controller()
export class AccountsController {
  constructor(private readonly accounts: Accounts) {}

  @Get('accounts')
  async list(@SignedIn() { user }: SignedInUser): Promise<AccountList> {
    return { accounts: (await this.accounts.ofUser(user.id)).map(shownMembership) };
  }

  @Post('accounts')
  async create(
    @SignedIn() { user }: SignedInUser,
    @CurrentCause() cause: Cause,
    @Body(valid(accountBody)) { name }: AccountBody,
  ): Promise<AccountRecord> {
    return shownMembership(await this.accounts.createFor(user.id, name, cause));
  }

  @Get('account')
  get(@CurrentCaller() caller: Caller): AccountRecord {
    return shownTo(caller, caller.account);
  }

  @Patch('account')
  async rename(
    @CurrentCaller() caller: Caller,
    @CurrentCause() cause: Cause,
    @Body(valid(accountBody)) { name }: AccountBody,
  ): Promise<AccountRecord> {
    return shownTo(caller, await this.accounts.rename(caller.account.id, name, cause));
  }
}

function shownTo(caller: Caller, account: Membership['account']): AccountRecord {
  return shownMembership({ account, ...(caller.kind === 'user' ? { role: caller.role } : {}) });
}

/** An account as the API shows it, with the role of the user if there is one. */
export function shownMembership({ account, role }: Pick<Membership, 'account'> & Partial<Membership>): AccountRecord {
  return {
    id: account.id,
    name: account.name,
    created_at: Math.floor(account.createdAt.getTime() / 1_000),
    ...(role === undefined ? {} : { role }),
  };
}
