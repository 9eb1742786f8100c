/**
 * A channel token is `dm_<region>_<opaque>`. The opaque part is 256 random bits (43 base62 digits) and a 32-bit
 * checksum of everything before it (6 digits), so that a token which was cut or mistyped is distinguished from one that
 * is not known without a database. The checksum is no secret and protects nothing.
 *
 * Only the SHA-256 of a token is stored. Tokens are looked up by that hash: what a comparison could leak by its timing
 * is bits of a hash, from which 256 random bits cannot be recovered.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isRegion, type Region } from '@dormouse/gateway-contract';
import { base62 } from './base62.js';

const PREFIX = 'dm';
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_BYTES = 4;
const CHECKSUM_DIGITS = 6;
const OPAQUE_DIGITS = SECRET_DIGITS + CHECKSUM_DIGITS;

/** Why a text cannot be a token. */
export type TokenFault =
  'absent' | 'surrounding space' | 'wrong prefix' | 'unknown region' | 'truncated' | 'too long' | 'bad checksum';

export type TokenReading = { region: Region } | { fault: TokenFault };

/** A new token for a channel of the region. Show it once; store its hash. */
export function mintToken(region: Region): string {
  const signed = `${PREFIX}_${region}_${base62(randomBytes(SECRET_BYTES), SECRET_DIGITS)}`;
  return signed + checksum(signed);
}

/** The region that a well-formed token belongs to, or what is wrong with it. Whether it is known is another question. */
export function readToken(text: string | undefined): TokenReading {
  if (!text) return { fault: 'absent' };
  if (text !== text.trim()) return text.trim() === '' ? { fault: 'absent' } : { fault: 'surrounding space' };
  const [prefix, region, ...rest] = text.split('_');
  if (prefix !== PREFIX) return { fault: 'wrong prefix' };
  // A token cut before its end of region is truncated rather than of an unknown region.
  if (rest.length === 0) return { fault: 'truncated' };
  if (!region || !isRegion(region)) return { fault: 'unknown region' };
  const opaque = rest.join('_');
  if (opaque.length < OPAQUE_DIGITS) return { fault: 'truncated' };
  if (opaque.length > OPAQUE_DIGITS) return { fault: 'too long' };
  if (checksum(text.slice(0, -CHECKSUM_DIGITS)) !== text.slice(-CHECKSUM_DIGITS)) return { fault: 'bad checksum' };
  return { region };
}

/** What is stored and looked up: the SHA-256 of the whole token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

function checksum(signed: string): string {
  return base62(createHash('sha256').update(signed, 'utf8').digest().subarray(0, CHECKSUM_BYTES), CHECKSUM_DIGITS);
}
