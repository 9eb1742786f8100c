import { valid } from '@dormouse/http-server';
import {
  changeRoleBody,
  inviteBody,
  type ChangeRoleBody,
  type InvitationList,
  type InviteBody,
  type Invited,
  type MemberList,
  type MemberRecord,
} from '@dormouse/management-contract';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentAccount, CurrentCaller, CurrentCause, SignedIn } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import type { Cause } from '../accounts/cause.js';
import { SignIn } from '../users/sign-in.js';
import type { SignedInUser } from '../users/user-sessions.js';
import { Invitations } from './invitations.js';
import { Members } from './members.js';

/** Who is in the account, and who is invited. */
@Controller('account')
export class TeamsController {
  constructor(
    private readonly members: Members,
    private readonly invitations: Invitations,
    private readonly signIn: SignIn,
  ) {}

  @Get('members')
  async list(@CurrentAccount() account: Account): Promise<MemberList> {
    return { members: await this.members.list(account.id) };
  }

  @Patch('members/:id')
  changeRole(
    @CurrentAccount() account: Account,
    @CurrentCause() cause: Cause,
    @Param('id') id: string,
    @Body(valid(changeRoleBody)) { role }: ChangeRoleBody,
  ): Promise<MemberRecord> {
    return this.members.changeRole(account.id, id, role, cause);
  }

  @Delete('members/:id')
  @HttpCode(204)
  remove(@CurrentAccount() account: Account, @CurrentCause() cause: Cause, @Param('id') id: string): Promise<void> {
    return this.members.remove(account.id, id, cause);
  }

  @Post('leave')
  @HttpCode(204)
  leave(
    @CurrentAccount() account: Account,
    @SignedIn() { user }: SignedInUser,
    @CurrentCause() cause: Cause,
  ): Promise<void> {
    return this.members.leave(account.id, user.id, cause);
  }

  @Get('invitations')
  async listInvitations(@CurrentAccount() account: Account): Promise<InvitationList> {
    return { invitations: await this.invitations.list(account.id) };
  }

  @Post('invitations')
  async invite(
    @CurrentCaller() caller: Caller,
    @CurrentCause() cause: Cause,
    @Body(valid(inviteBody)) body: InviteBody,
    @Req() { ip }: FastifyRequest,
  ): Promise<Invited> {
    if (this.signIn.settings) await this.signIn.parts.limits.count('mail', { about: body.email, address: ip });
    return this.invitations.invite(caller, body, cause);
  }

  @Delete('invitations/:id')
  @HttpCode(204)
  withdraw(@CurrentAccount() account: Account, @CurrentCause() cause: Cause, @Param('id') id: string): Promise<void> {
    return this.invitations.withdraw(account.id, id, cause);
  }
}
