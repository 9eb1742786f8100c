import { createRequire } from 'node:module';

/** libsignal's curve module; its own code calls these through the exports object, so they can be replaced at any time. */
export interface LibsignalCurve {
  calculateAgreement(publicKey: Uint8Array, privateKey: Uint8Array): Buffer;
  calculateSignature(privateKey: Uint8Array, message: Uint8Array): Buffer;
  /** A public key in Signal's serialized form, with its private key. */
  generateKeyPair(): { pubKey: Buffer; privKey: Buffer };
  verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array, isInit?: boolean): boolean;
}

/** What libsignal's curve module builds on; Baileys' group messages hold the former by reference and end up here. */
export interface CurveImplementation {
  sign(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

function hasFunctions<T extends object>(loaded: unknown, names: (keyof T & string)[]): loaded is T {
  if (typeof loaded !== 'object' || loaded === null) return false;
  return names.every((name) => typeof Reflect.get(loaded, name) === 'function');
}

function load<T extends object>(from: string, name: string, functions: (keyof T & string)[]): T {
  const loaded: unknown = createRequire(from)(name);
  if (hasFunctions<T>(loaded, functions)) return loaded;
  throw new Error(`${name} is not what it was: its signatures cannot be checked`);
}

/** The one CommonJS object that every `require('./curve')` inside libsignal shares. */
export function libsignalCurve(): LibsignalCurve {
  return load(import.meta.url, 'libsignal/src/curve.js', [
    'calculateAgreement',
    'calculateSignature',
    'generateKeyPair',
    'verifySignature',
  ]);
}

/** The one CommonJS object that libsignal's curve module calls into. */
export function curveImplementation(): CurveImplementation {
  const libsignal = createRequire(import.meta.url).resolve('libsignal/src/curve.js');
  return load(libsignal, 'curve25519-js', ['sign', 'verify']);
}
