/** What the storage of credentials and keys must know of the network library that makes them. */

/** A store of keys, by type and id. */
export interface KeyStore<Keys extends object> {
  /** @returns by id; those that are not stored are left out */
  get<T extends keyof Keys>(type: T, ids: string[]): Promise<{ [id: string]: Keys[T] }>;
  /** Resolves when all of it is durable. null removes a key. */
  set(data: KeyChanges<Keys>): Promise<void>;
}

export type KeyChanges<Keys extends object> = { [T in keyof Keys]?: { [id: string]: Keys[T] | null } };

/**
 * How the library's credentials and keys become bytes, and bytes become them.
 * `Keys` maps each type of key to its values.
 */
export interface KeyFormat<Creds extends object, Keys extends object> {
  /** Credentials of a device that is not linked yet. */
  newCredentials(): Creds;
  serializeCredentials(creds: Creds): Buffer;
  parseCredentials(plain: Buffer): Creds;
  /** @param value of a key of this type; types that the library does not know are kept in the same way */
  serializeKey(type: string, value: unknown): Buffer;
  parseKey<T extends keyof Keys>(type: T, plain: Buffer): Keys[T];
  /** A value of a type that the library does not know. */
  parseOther(plain: Buffer): unknown;
}
