import { randomBytes } from 'node:crypto';
import { decodeBase64 } from './base64.js';

const decode = (text: string) => Buffer.concat([...decodeBase64(text)]);

describe('decodeBase64', () => {
  it.each([0, 1, 2, 3, 4, 100_000, 786_432, 1_000_001])('returns %d bytes unchanged', (length) => {
    const bytes = randomBytes(length);
    expect(decode(bytes.toString('base64')).equals(bytes)).toBe(true);
    expect(decode(bytes.toString('base64url')).equals(bytes)).toBe(true);
  });

  it('reads lines of any width, also where a line break falls between two pieces', () => {
    const bytes = randomBytes(700_000);
    const lines = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
    expect(decode(`${lines}\n`).equals(bytes)).toBe(true);
  });

  it('holds no more than a piece at a time', () => {
    const longest = Math.max(...[...decodeBase64('QUJD'.repeat(1_000_000))].map((piece) => piece.length));
    expect(longest).toBeLessThanOrEqual(256 * 1024);
  });

  it.each(['QUJD!', 'QUJDQ', 'QQ==QUJD', 'QUJD====', 'Q=', `${'QUJD'.repeat(100_000)}%`])(
    'refuses what is not base64 (%#)',
    (text) => {
      expect(() => decode(text)).toThrow(expect.objectContaining({ status: 400 }));
    },
  );
});
