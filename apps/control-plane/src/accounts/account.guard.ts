import { GatewayError } from '@dormouse/gateway-contract';
import { createParamDecorator, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { presentedKey } from './account-key.js';
import type { Account, Accounts } from './accounts.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set by the guard. */
    account?: Account;
  }
}

const OPEN = 'open to everybody';

/** Marks a controller that needs no account key. */
export const OpenToEverybody = (): ClassDecorator => SetMetadata(OPEN, true);

/** Lets nobody in without an account key that is known and not revoked; everything is guarded unless marked open. */
export class AccountGuard implements CanActivate {
  readonly #reflector = new Reflector();

  constructor(private readonly accounts: Accounts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.#reflector.get<boolean | undefined>(OPEN, context.getClass())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = presentedKey(request.headers.authorization);
    if (key === undefined) throw unauthorized('Authorization: Bearer <account key> is missing');
    const account = await this.accounts.byKey(key);
    if (!account) throw unauthorized('the account key is not known or was revoked');
    request.account = account;
    return true;
  }
}

function unauthorized(details: string): GatewayError {
  return new GatewayError(401, { message: 'account key missing or invalid', details });
}

/** The account that asks. */
export const CurrentAccount = createParamDecorator((_: unknown, context: ExecutionContext): Account => {
  const { account } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!account) throw new Error('no account: the route is not guarded');
  return account;
});
