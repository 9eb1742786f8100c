/**
 * Keys of operators. The configuration names each operator with the SHA-256 of their key, so no database is needed:
 * operators have access during an outage of the global database, too. Removing a key from the configuration revokes it.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PREFIX = 'dmo_';

export interface Operator {
  /** Their name in the configuration; logged with every action. */
  name: string;
}

/** A new operator key. Show it once; its hash goes into the configuration. */
export function mintOperatorKey(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

export function hashOperatorKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

export class OperatorKeys {
  /** @param operators name to the SHA-256 of the key */
  constructor(private readonly operators: ReadonlyMap<string, Buffer>) {}

  /** The operator of a key. It is compared with the keys of all operators, each in constant time. */
  find(key: string): Operator | undefined {
    const hash = hashOperatorKey(key);
    const [name] = [...this.operators].filter(([, known]) => timingSafeEqual(known, hash)).map(([known]) => known);
    return name === undefined ? undefined : { name };
  }
}
