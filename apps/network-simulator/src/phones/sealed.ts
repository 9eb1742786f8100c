import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

/**
 * What a sealed addition to a message is for. The name goes into the key; votes and answers to events carry message and sender
 * as associated data, the others nothing (whatsmeow, msgsecret.go).
 */
export type SealUse = 'Poll Vote' | 'Event Response' | 'Enc Reaction' | 'Enc Comment' | 'Message Edit' | 'Event Edit';

const BOUND: readonly SealUse[] = ['Poll Vote', 'Event Response'];
const TAG_BYTES = 16;

/** Whose addition to whose message; the addresses go into the key, in the naming that the chat uses. */
export interface SealContext {
  use: SealUse;
  /** The message that it belongs to, and the secret in that message. */
  id: string;
  secret: Uint8Array;
  author: string;
  /** Who adds. */
  sender: string;
}

export interface Sealed {
  encPayload: Uint8Array;
  encIv: Uint8Array;
}

/** Encrypts an addition: GCM under a key from the secret of the message. */
export function seal(plain: Uint8Array, context: SealContext): Sealed {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(context), iv);
  cipher.setAAD(associated(context));
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv: iv };
}

/** The content of an addition; `undefined` when the context is not the one it was made in. */
export function openSeal(
  sealed: { encPayload?: Uint8Array | null | undefined; encIv?: Uint8Array | null | undefined },
  context: SealContext,
): Buffer | undefined {
  const payload = Buffer.from(sealed.encPayload ?? []);
  if (payload.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', keyFor(context), Buffer.from(sealed.encIv ?? []));
  decipher.setAAD(associated(context));
  decipher.setAuthTag(payload.subarray(payload.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(payload.subarray(0, payload.length - TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** How votes name an option. */
export function optionHash(option: string): Buffer {
  return createHash('sha256').update(option).digest();
}

function keyFor({ id, secret, author, sender, use }: SealContext): Buffer {
  const base = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  return createHmac('sha256', base)
    .update(`${id}${author}${sender}${use}`)
    .update(Buffer.from([1]))
    .digest();
}

function associated({ use, id, sender }: SealContext): Buffer {
  return BOUND.includes(use) ? Buffer.from(`${id}\0${sender}`) : Buffer.alloc(0);
}
