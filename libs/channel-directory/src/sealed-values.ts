/**
 * Secrets of a channel as they lie in the database: AES-256-GCM under a key of the channel.
 *
 * Guarantees: what is opened is what was sealed, for that channel and that purpose; a value that was changed, cut short or
 * moved elsewhere is refused. Channels' keys are derived from a master key (HKDF-SHA-256 with the channel's id), not
 * stored: a holder of the master key can open every channel's secrets anyway, so a stored key, wrapped by the master
 * key, would add a row and a query to every look-up and protect nothing more. Changing the master key seals anew what is
 * sealed under the former one, which is little.
 *
 * A sealed value is text, `sealed:1:<id of the master key>:<base64url of nonce, ciphertext, tag>`. The nonce is random;
 * a channel's key seals some thousands of values in its life, far below the 2^32 that random nonces allow.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The master keys of an installation's settings, 32 bytes each. */
export interface SettingsKeys {
  /** Id of the key that is sealed under. Undefined: what is sealed can be read, and new values are stored as they are. */
  readonly currentId?: string;
  /** All keys by id, the current one included. */
  readonly keys: ReadonlyMap<string, Buffer>;
}

/** A sealed value does not open. The text names channel and purpose, never the value. */
export class SealedValueError extends Error {
  constructor(channelId: string, purpose: string, reason: string) {
    super(`the sealed ${purpose} of channel ${channelId} cannot be opened: ${reason}`);
    this.name = 'SealedValueError';
  }
}

const MARK = 'sealed:1:';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Derived keys that are remembered: deriving takes some 10 microseconds. */
const MAX_REMEMBERED = 10_000;

export function isSealed(stored: string): boolean {
  return stored.startsWith(MARK);
}

/** Seals and opens the values of channels under the master keys it is given. */
export class ChannelSeals {
  readonly #derived = new Map<string, Buffer>();

  constructor(private readonly keys: SettingsKeys) {
    if (keys.currentId !== undefined && !keys.keys.has(keys.currentId)) {
      throw new Error(`there is no settings key ${keys.currentId}`);
    }
  }

  /** The key that values are sealed under; undefined: they are stored as they are. */
  get currentId(): string | undefined {
    return this.keys.currentId;
  }

  /** @param purpose what the value is; it opens for this purpose only */
  seal(channelId: string, purpose: string, plain: string): string {
    const { currentId } = this.keys;
    const key = currentId === undefined ? undefined : this.#keyOf(currentId, channelId);
    if (currentId === undefined || !key) return plain;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(channelId, purpose));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${MARK}${encodeURIComponent(currentId)}:${sealed.toString('base64url')}`;
  }

  /** The value in the clear; one that was never sealed as it is. @throws {SealedValueError} */
  open(channelId: string, purpose: string, stored: string): string {
    if (!isSealed(stored)) return stored;
    const [keyId = '', body = ''] = stored.slice(MARK.length).split(':');
    const key = this.#keyOf(decodeURIComponent(keyId), channelId);
    if (!key) {
      throw new SealedValueError(channelId, purpose, `there is no settings key ${keyId}; see SETTINGS_MASTER_KEY`);
    }
    const sealed = Buffer.from(body, 'base64url');
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(bound(channelId, purpose)).setAuthTag(sealed.subarray(-TAG_BYTES));
      return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealedValueError(channelId, purpose, `it was changed, or sealed under another key called ${keyId}`);
    }
  }

  #keyOf(masterKeyId: string, channelId: string): Buffer | undefined {
    const name = `${masterKeyId} ${channelId}`;
    const known = this.#derived.get(name);
    if (known) return known;
    const master = this.keys.keys.get(masterKeyId);
    if (!master) return undefined;
    const derived = Buffer.from(hkdfSync('sha256', master, '', `dormouse channel settings ${channelId}`, KEY_BYTES));
    if (this.#derived.size >= MAX_REMEMBERED) this.#derived.clear();
    this.#derived.set(name, derived);
    return derived;
  }
}

function bound(channelId: string, purpose: string): Buffer {
  return Buffer.from(JSON.stringify([channelId, purpose]));
}
