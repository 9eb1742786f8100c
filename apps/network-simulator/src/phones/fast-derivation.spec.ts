import { randomBytes } from 'node:crypto';
import signalCrypto from 'libsignal/src/crypto.js';
import { fastDerivation } from './fast-derivation.js';

interface Derivation {
  deriveSecrets(input: Buffer, salt: Buffer, info: Buffer, blocks?: number): Uint8Array[];
  calculateMAC(key: Buffer, data: Buffer): Uint8Array;
  verifyMAC(data: Buffer, key: Buffer, mac: Buffer, length: number): void;
  encrypt(key: Buffer, data: Buffer, iv: Buffer): Buffer;
  decrypt(key: Buffer, data: Buffer, iv: Buffer): Buffer;
}

describe('fastDerivation', () => {
  // The declared types are not those of the functions.
  const fast = signalCrypto as object as Derivation;
  const original = { ...fast };
  beforeAll(() => fastDerivation());
  afterAll(() => Object.assign(signalCrypto, original));

  const [input, data] = [randomBytes(32), randomBytes(80)];
  const hex = (blocks: readonly Uint8Array[]): string[] => blocks.map((block) => Buffer.from(block).toString('hex'));

  it('stands in for what libsignal calls', () => {
    for (const name of ['deriveSecrets', 'calculateMAC', 'verifyMAC', 'encrypt', 'decrypt'] as const) {
      expect(original[name]).toBeInstanceOf(Function);
      expect(fast[name]).not.toBe(original[name]);
    }
  });

  it.each([undefined, 1, 2, 3])('derives the same %s blocks as libsignal', (blocks) => {
    for (const salt of [Buffer.alloc(32), randomBytes(32)]) {
      const info = Buffer.from('WhisperMessageKeys');
      const expected = hex(original.deriveSecrets(input, salt, info, blocks));
      expect(hex(fast.deriveSecrets(input, salt, info, blocks))).toEqual(expected);
    }
  });

  it('encrypts what libsignal decrypts, and the other way round', () => {
    const iv = randomBytes(16);
    const ciphertext = fast.encrypt(input, data, iv);
    expect(original.decrypt(input, ciphertext, iv)).toEqual(data);
    expect(fast.decrypt(input, original.encrypt(input, data, iv), iv)).toEqual(data);
    expect(() => fast.decrypt(input, ciphertext.subarray(1), iv)).toThrow();
  });

  it('makes the MAC that libsignal makes, and accepts no other', () => {
    const mac = Buffer.from(original.calculateMAC(input, data));
    expect(Buffer.from(fast.calculateMAC(input, data))).toEqual(mac);
    const short = mac.subarray(0, 8);
    expect(() => fast.verifyMAC(data, input, short, 8)).not.toThrow();
    expect(() => fast.verifyMAC(data, input, mac, 8)).toThrow('Bad MAC length');
    const wrong = Buffer.from(short);
    wrong[7] = (wrong[7] ?? 0) ^ 1;
    expect(() => fast.verifyMAC(data, input, wrong, 8)).toThrow('Bad MAC');
  });
});
