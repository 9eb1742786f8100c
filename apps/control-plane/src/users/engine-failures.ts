import { GatewayError, type ErrorFacts, type ErrorStatus } from '@dormouse/gateway-contract';

/** Something that the sign-in engine refused; `code` is the engine's own name for it. */
export class EngineRefusal extends GatewayError {
  constructor(
    readonly code: string,
    status: ErrorStatus,
    facts: ErrorFacts,
  ) {
    super(status, facts);
  }
}

const FAILED = 'sign-in failed';
const LINK_FACTS = { details: 'token: not valid, or not valid any more; request another mail' };
const CHALLENGE_FACTS = { message: FAILED, details: 'sign in with address and password first' };

/** The text for each refusal of the engine; none of its own texts is shown. */
const REFUSALS: Readonly<Record<string, { status: ErrorStatus } & ErrorFacts>> = {
  INVALID_EMAIL_OR_PASSWORD: { status: 401, message: FAILED, details: 'the address or the password is wrong' },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    details:
      'the address is not verified: open the link in the mail, or request another with POST /auth/verification-mail',
  },
  INVALID_TOKEN: { status: 400, ...LINK_FACTS },
  TOKEN_EXPIRED: { status: 400, ...LINK_FACTS },
  USER_NOT_FOUND: { status: 400, ...LINK_FACTS },
  INVALID_USER: { status: 400, ...LINK_FACTS },
  INVALID_PASSWORD: { status: 400, details: 'password: wrong' },
  CREDENTIAL_ACCOUNT_NOT_FOUND: { status: 400, details: 'password: this user has none; set one by a reset mail' },
  INVALID_CODE: { status: 401, message: FAILED, details: 'the code is wrong or was used' },
  INVALID_BACKUP_CODE: { status: 401, message: FAILED, details: 'the recovery code is wrong or was used' },
  INVALID_TWO_FACTOR_COOKIE: { status: 401, ...CHALLENGE_FACTS },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { status: 401, ...CHALLENGE_FACTS },
  ACCOUNT_TEMPORARILY_LOCKED: { status: 429, details: 'too many wrong codes; try again later', retryAfterS: 900 },
  TOTP_ALREADY_ENABLED: { status: 400, details: 'the second factor is on already' },
  TOTP_NOT_ENABLED: { status: 400, details: 'the second factor is not on; start with POST /auth/second-factor' },
  TWO_FACTOR_NOT_ENABLED: { status: 400, details: 'the second factor is not on' },
  BACKUP_CODES_NOT_ENABLED: { status: 400, details: 'the second factor is not on' },
  UNAUTHORIZED: { status: 401, message: 'not signed in', details: 'sign in first' },
  PROVIDER_NOT_FOUND: {
    status: 503,
    message: 'the identity provider does not answer',
    details: 'sign in with address and password, or try again later',
    retryAfterS: 30,
  },
};

/**
 * The error for an answer of the engine that is none of success.
 * @param status its HTTP status
 * @param body its body: `{code, message}`
 */
export function engineFailure(status: number, body: unknown): GatewayError {
  const found: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'code') : undefined;
  const code = typeof found === 'string' ? found : 'UNKNOWN';
  const refusal = REFUSALS[code];
  if (refusal) return new EngineRefusal(code, refusal.status, refusal);
  if (status === 429) return new EngineRefusal(code, 429, { retryAfterS: 60 });
  if (status >= 500 || status === 422)
    return new EngineRefusal(code, 502, { message: 'the request could not be carried out' });
  return new EngineRefusal(code, 400, { details: 'the request is not well-formed' });
}
