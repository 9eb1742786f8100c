import { createHmac, timingSafeEqual } from 'node:crypto';
import { SESSION_COOKIE } from '@dormouse/management-contract';
import { parseCookies } from 'better-auth/cookies';

/** Name of the session's cookie; browsers accept `__Secure-` over https alone. */
export function sessionCookieName(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE;
}

/**
 * The token in the session's cookie, if the engine signed it with our secret: `<token>.<HMAC-SHA-256 in base64>`, percent-encoded.
 * @param cookie the request's header
 */
export function readSessionToken(
  cookie: string | undefined,
  { publicUrl, secret }: { publicUrl: string; secret: string },
): string | undefined {
  if (cookie === undefined) return undefined;
  const value = parseCookies(cookie).get(sessionCookieName(publicUrl));
  const dot = value?.lastIndexOf('.') ?? -1;
  if (value === undefined || dot < 1) return undefined;
  const token = value.slice(0, dot);
  const given = Buffer.from(value.slice(dot + 1), 'base64');
  const right = createHmac('sha256', secret).update(token).digest();
  return given.length === right.length && timingSafeEqual(given, right) ? token : undefined;
}
