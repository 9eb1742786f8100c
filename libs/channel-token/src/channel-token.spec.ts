import { REGIONS } from '@dormouse/gateway-contract';
import { base62 } from './base62.js';
import { hashToken, mintToken, readToken } from './channel-token.js';

describe('channel token', () => {
  it('names its region and has a fixed length', () => {
    for (const region of REGIONS) {
      const token = mintToken(region);
      expect(token).toMatch(new RegExp(`^dm_${region}_[0-9A-Za-z]{49}$`));
      expect(readToken(token)).toEqual({ region });
    }
  });

  it('is never minted twice', () => {
    expect(new Set(Array.from({ length: 200 }, () => mintToken('sg'))).size).toBe(200);
  });

  it('is truncated at whatever place it was cut', () => {
    const token = mintToken('use');
    for (let length = 3; length < token.length; length++) {
      expect(readToken(token.slice(0, length))).toEqual({ fault: 'truncated' });
    }
  });

  it('does not pass with one character changed, in the secret, the checksum or the region', () => {
    const token = mintToken('sg');
    const last = token.at(-1) === 'x' ? 'y' : 'x';
    expect(readToken(token.slice(0, -1) + last)).toEqual({ fault: 'bad checksum' });
    const tenth = token[10] === 'x' ? 'y' : 'x';
    expect(readToken(token.slice(0, 10) + tenth + token.slice(11))).toEqual({ fault: 'bad checksum' });
    expect(readToken(token.replace('_sg_', '_eu_'))).toEqual({ fault: 'bad checksum' });
  });

  it('names each other fault', () => {
    const token = mintToken('eu');
    expect(readToken(undefined)).toEqual({ fault: 'absent' });
    expect(readToken('')).toEqual({ fault: 'absent' });
    expect(readToken('  ')).toEqual({ fault: 'absent' });
    expect(readToken(`${token} `)).toEqual({ fault: 'surrounding space' });
    expect(readToken(`\n${token}`)).toEqual({ fault: 'surrounding space' });
    expect(readToken(token.slice(3))).toEqual({ fault: 'wrong prefix' });
    expect(readToken('f2c5b0a4c8e94f2e8f1d4a6b7c8d9e0f')).toEqual({ fault: 'wrong prefix' });
    expect(readToken(token.replace('_eu_', '_mars_'))).toEqual({ fault: 'unknown region' });
    expect(readToken(`${token}0`)).toEqual({ fault: 'too long' });
  });

  it('is stored as its SHA-256', () => {
    expect(hashToken('dm_sg_x').toString('hex')).toBe(
      '87119ff3637cddc83f3526e7df3cd906e0b48a8ceb5be14e02bba9628fc202f6',
    );
    expect(hashToken(mintToken('sg'))).toHaveLength(32);
  });
});

describe('base62', () => {
  it('keeps its width for the smallest and the largest value', () => {
    expect(base62(new Uint8Array(32), 43)).toBe('0'.repeat(43));
    expect(base62(new Uint8Array(32).fill(255), 43)).toHaveLength(43);
    expect(base62(Uint8Array.of(61), 2)).toBe('0z');
  });
});
