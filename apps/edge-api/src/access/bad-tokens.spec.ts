import { BadTokens } from './bad-tokens.js';
import { GatewayError } from '@dormouse/gateway-contract';
import type { Redis } from '@dormouse/redis';

const refusal = new GatewayError(401, { details: 'the token is not known' });
const tooMany = expect.objectContaining({ status: 429, retryAfterS: 60 }) as Error;

/** Redis is away: each edge counts in memory. */
const away = { status: 'end', defineCommand: () => undefined } as Partial<Redis> as Redis;

function open(points = 3) {
  const clock = { ms: 1_000_000 };
  return { clock, bad: new BadTokens({ redis: away, limit: { points, windowS: 60 }, now: () => clock.ms }) };
}

describe('BadTokens', () => {
  it('refuses an address with 429 after its limit, before anything is looked up, and another not', async () => {
    const { bad, clock } = open();
    for (let n = 0; n < 3; n++) expect(await bad.count('192.0.2.1', refusal)).toBe(refusal);
    expect(await bad.count('192.0.2.1', refusal)).toMatchObject({ status: 429 });
    expect(() => bad.isKnownMiss('192.0.2.1', 'unknown')).toThrow(tooMany);
    expect(bad.isKnownMiss('192.0.2.2', 'unknown')).toBe(false);
    clock.ms += 60_001;
    expect(bad.isKnownMiss('192.0.2.1', 'unknown')).toBe(false);
  });

  it('refuses an address only until its window ends, even if that is over in the same millisecond', async () => {
    const clock = { ms: 1_000_000 };
    // What the counter's script returns: the points of this window, and the milliseconds that it lasts.
    const redis = { status: 'ready', defineCommand: () => undefined, rlflxIncr: () => Promise.resolve([999, 0]) };
    const limit = { points: 3, windowS: 60 };
    const bad = new BadTokens({ redis: redis as object as Redis, limit, now: () => clock.ms });
    expect(await bad.count('192.0.2.1', refusal)).toMatchObject({ status: 429 });
    clock.ms += 2;
    expect(bad.isKnownMiss('192.0.2.1', 'unknown')).toBe(false);
  });

  it('counts the addresses of one IPv6 network together', async () => {
    const { bad } = open();
    for (let n = 1; n <= 3; n++) expect(await bad.count(`2001:db8:1:2::${n}`, refusal)).toBe(refusal);
    expect(await bad.count('2001:db8:1:2::4', refusal)).toMatchObject({ status: 429 });
    expect(await bad.count('2001:db8:1:3::1', refusal)).toBe(refusal);
  });

  it('lets a token through that was good lately, until it is not any more', async () => {
    const { bad } = open(1);
    bad.noteGood('good');
    for (let n = 0; n < 3; n++) await bad.count('192.0.2.1', refusal);
    expect(bad.isKnownMiss('192.0.2.1', 'good')).toBe(false);
    bad.noteMiss('good');
    expect(() => bad.isKnownMiss('192.0.2.1', 'good')).toThrow(GatewayError);
  });

  it('remembers a miss for half a second: it costs no look-up, and is accepted soon after it has become known', () => {
    const { bad, clock } = open();
    bad.noteMiss('unknown');
    clock.ms += 499;
    expect(bad.isKnownMiss('192.0.2.1', 'unknown')).toBe(true);
    clock.ms += 2;
    expect(bad.isKnownMiss('192.0.2.1', 'unknown')).toBe(false);
  });

  it('does not count a request without any token', async () => {
    const { bad } = open(1);
    for (let n = 0; n < 5; n++)
      expect(await bad.count('192.0.2.1', new GatewayError(401))).toMatchObject({ status: 401 });
  });
});
