import type { AuditActor } from '@dormouse/audit-log';
import { GatewayError } from '@dormouse/gateway-contract';
import { SESSION_COOKIE, type Access } from '@dormouse/management-contract';
import { createParamDecorator, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Operator, OperatorKeys } from '../operators/operator-keys.js';
import { requireOwnOrigin } from '../users/own-origin.js';
import type { SignedInUser } from '../users/user-sessions.js';
import { accessOf } from './access-table.js';
import { presentedKey } from './account-key.js';
import type { Account } from './accounts.js';
import type { Caller, MemberCaller } from './caller.js';
import { needsUser, type Callers, type MemberAccess } from './callers.js';
import type { Cause } from './cause.js';
import type { KeyUse } from './key-use.js';
import type { Looks } from './looks.js';
import type { RequestLimits } from './request-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request; set by the guard. */
    caller?: Caller;
    /** The account that the request is about. */
    account?: Account;
    operator?: Operator;
    /** The user, when the request has a session. */
    signedIn?: SignedInUser;
  }
}

const PUBLIC = 'public';

/** Marks a controller or a route that is no operation of the management API, and for everybody. */
export const Public = (): ClassDecorator & MethodDecorator => SetMetadata(PUBLIC, true);

export interface AccountGuardParts {
  callers: Callers;
  operators: OperatorKeys;
  limits: RequestLimits;
  keyUse: KeyUse;
  looks: Looks;
  /** Origin of this installation; undefined: nobody can sign in. */
  publicUrl: string | undefined;
}

/**
 * Holds every route to its row of the access table: a key with the scope, or a session (for what changes something, from a page
 * of this installation) in the role, with a fresh proof of the password where the row has it. A route without a row is refused.
 */
export class AccountGuard implements CanActivate {
  readonly #reflector = new Reflector();

  constructor(private readonly parts: AccountGuardParts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    if (this.#reflector.getAllAndOverride<boolean | undefined>(PUBLIC, places)) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const access = accessOf(request.method, request.routeOptions.url ?? '');
    if (!access) throw new Error(`${request.method} ${request.routeOptions.url ?? ''} has no row in the access table`);
    if (access.for === 'anyone') requireOwnOrigin(request, this.parts.publicUrl);
    else if (access.for === 'operators') await this.#operator(request, access);
    else if (access.for === 'users') await this.#user(request, access);
    else await this.#member(request, access);
    return true;
  }

  async #member(request: FastifyRequest, access: MemberAccess): Promise<void> {
    const { callers, limits } = this.parts;
    const key = presentedKey(request.headers.authorization);
    const caller = key === undefined ? await this.#memberBySession(request) : await this.#byKey(request, key);
    const isLook = caller.kind === 'user' && caller.isLook === true;
    await limits.countRequest(isLook ? caller.signedIn.user.id : caller.account.id, key);
    if (isLook) await this.#look(request, caller, access);
    callers.requireAccess(caller, access, request.headers);
    request.caller = caller;
    request.account = caller.account;
  }

  /** An operator who is no member sees what is read, once the account's audit log has it. */
  async #look(request: FastifyRequest, { account, signedIn }: MemberCaller, access: MemberAccess): Promise<void> {
    if (request.method !== 'GET' || access.hiddenFromOperators === true) {
      const details = 'operators look at accounts of others: they change nothing there, and see no secrets';
      throw new GatewayError(403, { details });
    }
    request.operator = { name: signedIn.user.id };
    await this.parts.looks.note(account.id, causeOf(request));
  }

  async #memberBySession(request: FastifyRequest): Promise<Caller> {
    if (!hasSession(request)) {
      throw unauthorized('account', 'send Authorization: Bearer <account key>, or sign in first: POST /auth/sign-in');
    }
    return this.parts.callers.inAccount(await this.#signedIn(request), request.headers);
  }

  async #byKey(request: FastifyRequest, key: string): Promise<Caller> {
    const { callers, limits, keyUse } = this.parts;
    await limits.requireNotBlocked(request.ip, key);
    const caller = await callers.byKey(key);
    if (!caller) {
      await limits.countBadKey(request.ip, key);
      throw unauthorized('account', 'the account key is unknown, was ended or is past its end');
    }
    keyUse.used(caller.key);
    return caller;
  }

  async #user(request: FastifyRequest, access: Access): Promise<void> {
    const key = presentedKey(request.headers.authorization);
    if (key !== undefined) {
      await this.#byKey(request, key);
      throw needsUser();
    }
    const signedIn = await this.#signedIn(request);
    await this.parts.limits.countRequest(signedIn.user.id);
    this.parts.callers.requireProof(signedIn, access);
  }

  /** The user of a session whose request may have been made by a page of this installation alone. */
  async #signedIn(request: FastifyRequest): Promise<SignedInUser> {
    requireOwnOrigin(request, this.parts.publicUrl);
    nameAccount(request);
    const signedIn = await this.parts.callers.bySession(request.headers);
    if (!signedIn) {
      throw new GatewayError(401, { message: 'not signed in', details: 'sign in first: POST /auth/sign-in' });
    }
    request.signedIn = signedIn;
    return signedIn;
  }

  /** The global database is queried only for keys that are not an operator's, so operators get in without it. */
  async #operator(request: FastifyRequest, access: Access): Promise<void> {
    const { callers, operators, limits } = this.parts;
    const key = presentedKey(request.headers.authorization);
    if (key === undefined) return this.#operatorBySession(request, access);
    request.operator = operators.find(key);
    if (request.operator) return;
    await limits.requireNotBlocked(request.ip, key);
    if (await callers.byKey(key)) throw new GatewayError(403, { details: 'an operator is required' });
    await limits.countBadKey(request.ip, key);
    throw unauthorized('operator', 'the operator key is unknown');
  }

  async #operatorBySession(request: FastifyRequest, access: Access): Promise<void> {
    if (!hasSession(request)) {
      throw unauthorized('operator', 'send Authorization: Bearer <operator key>, or sign in first: POST /auth/sign-in');
    }
    const signedIn = await this.#signedIn(request);
    const { user } = signedIn;
    if (!user.isOperator) throw new GatewayError(403, { details: 'an operator is required' });
    if (!user.twoFactorEnabled) {
      const details = 'operators need a second factor: turn it on first: POST /auth/second-factor';
      throw new GatewayError(403, { details });
    }
    await this.parts.limits.countRequest(user.id);
    this.parts.callers.requireProof(signedIn, access);
    request.operator = { name: user.id };
  }
}

/** `account` in the query of a read counts as `X-Account`: a browser's EventSource can send no header. */
function nameAccount({ method, headers, query }: FastifyRequest): void {
  const named: unknown = Reflect.get(Object(query), 'account');
  if (method === 'GET' && typeof named === 'string') headers['x-account'] ??= named;
}

/** Whether a browser sends the cookie of a session, valid or not. */
function hasSession({ headers }: FastifyRequest): boolean {
  return headers.cookie?.includes(SESSION_COOKIE) === true;
}

function unauthorized(kind: 'account' | 'operator', details: string): GatewayError {
  return new GatewayError(401, { message: `${kind} key missing or invalid`, details });
}

/** The account that the request is about. */
export const CurrentAccount = createParamDecorator((_: unknown, context: ExecutionContext): Account => {
  const { account } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!account) throw new Error('no account: the route is not for members');
  return account;
});

/** Who makes a request for an account. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!caller) throw new Error('no caller: the route is not for members');
  return caller;
});

/** The user who makes the request. */
export const SignedIn = createParamDecorator((_: unknown, context: ExecutionContext): SignedInUser => {
  const { signedIn } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!signedIn) throw new Error('no user: the route is not for users');
  return signedIn;
});

/** The operator that makes the request. */
export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext): Operator => {
  const { operator } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!operator) throw new Error('no operator: the route is not for operators');
  return operator;
});

/** Who causes what the request changes, for the audit log. */
export const CurrentCause = createParamDecorator((_: unknown, context: ExecutionContext): Cause => {
  return causeOf(context.switchToHttp().getRequest<FastifyRequest>());
});

function causeOf(request: FastifyRequest): Cause {
  return { actor: actorOf(request), address: request.ip, requestId: request.id };
}

function actorOf({ caller, operator, signedIn }: FastifyRequest): AuditActor {
  if (operator) return { kind: 'operator', id: operator.name };
  if (caller?.kind === 'key') return { kind: 'key', id: caller.key.id, name: caller.key.name };
  if (signedIn) return { kind: 'user', id: signedIn.user.id, name: signedIn.user.email };
  throw new Error('nobody: the route is not guarded');
}
