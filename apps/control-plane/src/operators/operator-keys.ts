/**
 * Who may see and run the fleet. Operators are named in the configuration with the SHA-256 of their key, so they need
 * no database: during an outage of the global one they still get in. A key is ended by taking it out of there.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PREFIX = 'dmo_';

export interface Operator {
  /** As the configuration names them; written into the log beside everything they do. */
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

  /** The operator whose key this is. Compared with every one of them, each in constant time. */
  find(key: string): Operator | undefined {
    const hash = hashOperatorKey(key);
    const [name] = [...this.operators].filter(([, known]) => timingSafeEqual(known, hash)).map(([known]) => known);
    return name === undefined ? undefined : { name };
  }
}
