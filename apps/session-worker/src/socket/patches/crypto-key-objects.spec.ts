import crypto, {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { KEY_OBJECTS_ARE_FASTER, passKeysAsObjects } from './crypto-key-objects.js';

// Names imported here stay those of Node: the test runner does not let them follow.
const originals = { createHmac, createCipheriv, createDecipheriv };
/** Keys as Node itself was given them. */
const given: unknown[] = [];

describe('passKeysAsObjects', () => {
  beforeAll(() => {
    crypto.createHmac = (algorithm, key, options) => {
      given.push(key);
      return originals.createHmac(algorithm, key, options);
    };
    passKeysAsObjects();
  });

  afterAll(() => {
    Object.assign(crypto, originals);
    syncBuiltinESMExports();
  });

  it('gives Node key objects for bytes where that saves time, and what was given where it does not', () => {
    const bytes = randomBytes(32);
    const object = createSecretKey(bytes);
    for (const key of [bytes, object, 'a text']) crypto.createHmac('sha256', key).update('x').digest();
    const [first, ...others] = given;
    if (KEY_OBJECTS_ARE_FASTER) expect((first as KeyObject).export()).toEqual(bytes);
    else expect(first).toBe(bytes);
    expect(others).toEqual([object, 'a text']);
  });

  it.each([0, 1, 32, 200])('makes the same HMAC with a key of %i bytes', (length) => {
    const key = randomBytes(length);
    const expected = createHmac('sha256', key).update('what is said').digest('hex');
    expect(crypto.createHmac('sha256', key).update('what is said').digest('hex')).toBe(expected);
  });

  it('does not follow bytes that are changed after the call', () => {
    const key = randomBytes(32);
    const expected = createHmac('sha256', key).update('x').digest('hex');
    const hmac = crypto.createHmac('sha256', key);
    key.fill(0);
    expect(hmac.update('x').digest('hex')).toBe(expected);
  });

  it('encrypts and decrypts as before, options included', () => {
    const [key, iv] = [randomBytes(32), randomBytes(16)];
    const encrypted = [crypto.createCipheriv, createCipheriv].map((make) => {
      const cipher = make('aes-256-cbc', key, iv);
      return Buffer.concat([cipher.update('what is said'), cipher.final()]);
    });
    expect(encrypted[0]).toEqual(encrypted[1]);
    const decipher = crypto.createDecipheriv('aes-256-cbc', key, iv);
    const text = [decipher.update(encrypted[0] ?? Buffer.alloc(0)), decipher.final()];
    expect(Buffer.concat(text).toString()).toBe('what is said');
    const short = crypto.createCipheriv('aes-256-gcm', key, iv, { authTagLength: 12 });
    short.final();
    expect(short.getAuthTag()).toHaveLength(12);
  });

  it('refuses a key of the wrong length with the same code', () => {
    const [key, iv] = [randomBytes(31), randomBytes(12)];
    for (const make of [crypto.createCipheriv, createCipheriv]) {
      expect(() => make('aes-256-gcm', key, iv)).toThrow(
        expect.objectContaining({ code: 'ERR_CRYPTO_INVALID_KEYLEN' }),
      );
    }
  });
});
