import { GatewayError } from '@dormouse/gateway-contract';
import { createParamDecorator, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Operator, OperatorKeys } from '../operators/operator-keys.js';
import { presentedKey } from './account-key.js';
import type { Account, Accounts } from './accounts.js';
import type { RequestLimits } from './request-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account or operator that makes the request; set by the guard. */
    account?: Account;
    operator?: Operator;
  }
}

const PUBLIC = 'public';
const OPERATORS_ONLY = 'operators only';

/** Marks a controller that needs no key. */
export const Public = (): ClassDecorator => SetMetadata(PUBLIC, true);

/** Marks a controller that needs an operator key. */
export const OperatorsOnly = (): ClassDecorator => SetMetadata(OPERATORS_ONLY, true);

/**
 * Requires on every route an account key that is known and not revoked; on controllers marked {@link OperatorsOnly} an
 * operator key; on controllers marked {@link Public} none.
 */
export class AccountGuard implements CanActivate {
  readonly #reflector = new Reflector();

  constructor(
    private readonly accounts: Accounts,
    private readonly operators: OperatorKeys,
    private readonly limits: RequestLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.#reflector.get<boolean | undefined>(PUBLIC, context.getClass())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = presentedKey(request.headers.authorization);
    if (this.#reflector.get<boolean | undefined>(OPERATORS_ONLY, context.getClass())) {
      request.operator = await this.#operator(key, request.ip);
      return true;
    }
    if (key === undefined) throw unauthorized('account', 'Authorization: Bearer <account key> is missing');
    await this.limits.requireNotBlocked(request.ip, key);
    const account = await this.accounts.byKey(key);
    if (!account) {
      await this.limits.countBadKey(request.ip, key);
      throw unauthorized('account', 'the account key is unknown or was revoked');
    }
    await this.limits.countRequest(account.id, key);
    request.account = account;
    return true;
  }

  /** The global database is queried only for keys that are not an operator's, so operators get in without it. */
  async #operator(key: string | undefined, address: string): Promise<Operator> {
    if (key === undefined) throw unauthorized('operator', 'Authorization: Bearer <operator key> is missing');
    const operator = this.operators.find(key);
    if (operator) return operator;
    await this.limits.requireNotBlocked(address, key);
    if (await this.accounts.byKey(key)) {
      throw new GatewayError(403, { details: 'an operator key is required' });
    }
    await this.limits.countBadKey(address, key);
    throw unauthorized('operator', 'the operator key is unknown');
  }
}

function unauthorized(kind: 'account' | 'operator', details: string): GatewayError {
  return new GatewayError(401, { message: `${kind} key missing or invalid`, details });
}

/** The account that makes the request. */
export const CurrentAccount = createParamDecorator((_: unknown, context: ExecutionContext): Account => {
  const { account } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!account) throw new Error('no account: the route is not guarded');
  return account;
});

/** The operator that makes the request. */
export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext): Operator => {
  const { operator } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!operator) throw new Error('no operator: the route is not for operators');
  return operator;
});
