const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Big-endian base62 of the bytes, padded with `0` to the width. The width must hold every value of that many bytes. */
export function base62(bytes: Uint8Array, width: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (value > 0n) {
    text = DIGITS.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text.padStart(width, '0');
}
