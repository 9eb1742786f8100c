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
import { requireOwnOrigin } from '../users/own-origin.js';
import { requireStrong } from '../users/passwords.js';
import { SignIn } from '../users/sign-in.js';
import type { SignedInUser } from '../users/user-sessions.js';
import { Invitations } from './invitations.js';

/** What the invited do. */
@Controller('invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: Invitations,
    private readonly signIn: SignIn,
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
    const { limits, passwords } = this.signIn.parts;
    requireOwnOrigin(request, this.signIn.settings?.publicUrl);
    requireStrong(body.password, [body.name]);
    await limits.count('sign-up', { about: body.token, address: request.ip });
    const passwordHash = await passwords.hash(body.password);
    const origin = { address: request.ip, requestId: request.id };
    return shownMembership(await this.invitations.acceptAsNewUser(body, passwordHash, origin));
  }
}
