import { valid } from '@dormouse/http-server';
import {
  acceptInvitationBody,
  joinBody,
  type AcceptInvitationBody,
  type AccountRecord,
  type JoinBody,
} from '@dormouse/management-contract';
import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentCause, SignedIn } from '../accounts/account.guard.js';
import { shownMembership } from '../accounts/accounts.controller.js';
import type { Cause } from '../accounts/cause.js';
import type { SignedInUser } from '../users/user-sessions.js';
import { Invitations } from './invitations.js';
import { Joining } from './joining.js';

/** What the invited do. */
@Controller('invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: Invitations,
    private readonly joining: Joining,
  ) {}

  @Post('accept')
  @HttpCode(200)
  async accept(
    @SignedIn() { user }: SignedInUser,
    @CurrentCause() cause: Cause,
    @Body(valid(acceptInvitationBody)) { token }: AcceptInvitationBody,
  ): Promise<AccountRecord> {
    return shownMembership(await this.invitations.accept(token, user, cause));
  }

  /** For somebody without a user, so without a session. */
  @Post('join')
  async join(@Body(valid(joinBody)) body: JoinBody, @Req() request: FastifyRequest): Promise<AccountRecord> {
    return shownMembership(await this.joining.join(body, { address: request.ip, requestId: request.id }));
  }
}
