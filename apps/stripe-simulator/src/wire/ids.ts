import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTHS: Record<string, number> = { cus: 14, prod: 14, whsec: 32, cs_test: 58, cs_live: 58, bps: 24, req: 14 };

/** A new id such as `sub_9hQ2…`: the prefix says what it is of. */
export function newId(prefix: string): string {
  const length = LENGTHS[prefix] ?? 24;
  const drawn = [...randomBytes(length)].map((byte) => DIGITS[byte % DIGITS.length] ?? '0').join('');
  return `${prefix}_${drawn}`;
}
