import { GatewayError } from '@dormouse/gateway-contract';
import { createParamDecorator, Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Own } from './own-user.js';
import { requireOwnOrigin } from './own-origin.js';
import { SignIn } from './sign-in.js';
import { provenUntil } from './user-records.js';
import { UserSessions, type SignedInUser } from './user-sessions.js';
import { visitorOf } from './visitor.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user who makes the request; set by {@link UserGuard}. */
    signedIn?: SignedInUser;
  }
}

const NEEDS_PROOF = 'needs proof';

/** Marks a route for which the password must have been entered a short time ago. */
export const NeedsProof = (): MethodDecorator => SetMetadata(NEEDS_PROOF, true);

/** For routes without a session: a page of another origin may not use them. */
@Injectable()
export class OwnOriginGuard implements CanActivate {
  constructor(private readonly signIn: SignIn) {}

  canActivate(context: ExecutionContext): boolean {
    requireOwnOrigin(context.switchToHttp().getRequest<FastifyRequest>(), this.signIn.settings?.publicUrl);
    return true;
  }
}

/** Requires a session, and for what changes something the origin of this installation. */
@Injectable()
export class UserGuard implements CanActivate {
  readonly #reflector = new Reflector();

  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: UserSessions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requireOwnOrigin(request, this.signIn.settings?.publicUrl);
    const signedIn = await this.sessions.of(request.headers);
    if (!signedIn)
      throw new GatewayError(401, { message: 'not signed in', details: 'sign in first: POST /auth/sign-in' });
    const needsProof = this.#reflector.get<boolean | undefined>(NEEDS_PROOF, context.getHandler()) ?? false;
    if (needsProof && provenUntil(signedIn.session.provenAt, Date.now()) === undefined) {
      throw new GatewayError(403, { details: 'enter the password again first: POST /auth/prove' });
    }
    request.signedIn = signedIn;
    return true;
  }
}

/** The user who makes the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): Own => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  if (!request.signedIn) throw new Error('no user: the route is not guarded');
  return { signedIn: request.signedIn, visitor: visitorOf(request) };
});
