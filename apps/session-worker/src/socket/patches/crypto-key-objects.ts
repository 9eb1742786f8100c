/**
 * Keys that are given as bytes reach Node's ciphers as key objects.
 *
 * libsignal and the library's noise give every key as bytes, two dozen times a message. Node 24 finds out that bytes are
 * no key object by having two internal look-ups throw, which costs more than the cipher itself (24.21: 12 µs in place of 5
 * for an HMAC, 87 in place of 26 for the keys of one message). Before Node 24 a key object saves nothing: there everything
 * is left as it is. What comes out is the same in any case.
 */
import crypto, { createSecretKey } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const FIRST_NODE_WITH_THE_COST = 24;
/** Are key objects worth anything on this Node? */
export const KEY_OBJECTS_ARE_FASTER = Number.parseInt(process.versions.node, 10) >= FIRST_NODE_WITH_THE_COST;

const KEYED = ['createHmac', 'createCipheriv', 'createDecipheriv'] as const;

/** Changes the keyed functions of `node:crypto`, which take the key second, for the whole process. */
export function passKeysAsObjects(): void {
  if (!KEY_OBJECTS_ARE_FASTER) return;
  for (const name of KEYED) {
    const original: (...given: never[]) => unknown = crypto[name];
    const keyed = (algorithm: unknown, key: unknown, ...others: unknown[]): unknown =>
      Reflect.apply(original, crypto, [algorithm, key instanceof Uint8Array ? createSecretKey(key) : key, ...others]);
    Reflect.set(crypto, name, keyed);
  }
  syncBuiltinESMExports(); // names that other modules have imported follow
}
