import { randomBytes } from 'node:crypto';
import { open, seal, UnsealableError } from './sealing.js';

const key = randomBytes(32);
const plain = Buffer.from('private ratchet key');

describe('sealing', () => {
  it('gives back what was sealed', () => {
    expect(open(key, 'channel a, session 1', seal(key, 'channel a, session 1', plain))).toEqual(plain);
    expect(open(key, 'empty', seal(key, 'empty', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('never seals twice alike and shows nothing of the value', () => {
    const [one, two] = [seal(key, 'p', plain), seal(key, 'p', plain)];
    expect(one.equals(two)).toBe(false);
    expect(one.includes(plain)).toBe(false);
  });

  it('refuses a value with any bit changed', () => {
    const sealed = seal(key, 'p', plain);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => open(key, 'p', changed)).toThrow(UnsealableError);
    }
  });

  it('refuses a value cut short at any length', () => {
    const sealed = seal(key, 'p', plain);
    for (let length = 0; length < sealed.length; length++) {
      expect(() => open(key, 'p', sealed.subarray(0, length))).toThrow(UnsealableError);
    }
  });

  it('refuses a value of another place or key', () => {
    const sealed = seal(key, 'channel a', plain);
    expect(() => open(key, 'channel b', sealed)).toThrow('channel b');
    expect(() => open(randomBytes(32), 'channel a', sealed)).toThrow(UnsealableError);
  });
});
