/**
 * Decryption of additions that clients seal under the secret of the message they belong to: votes, edits, answers to
 * events, reactions and comments in announcement groups.
 *
 * The key is HKDF-SHA256 of the secret. Its info is the target's network id, the address of the target's author, the
 * address of the sealer, and the use. The cipher is AES-256-GCM; votes and answers to events also authenticate the id
 * and the sealer's address (whatsmeow, msgsecret.go). The sealing client chooses the form of the addresses, number or
 * LID; the reader tries all forms that it knows.
 */
import { createDecipheriv, hkdfSync } from 'node:crypto';

export interface Sealed {
  iv: Uint8Array;
  /** The ciphertext, and 16 bytes of tag behind it. */
  payload: Uint8Array;
  /** The uses that are tried in the key's info. */
  uses: readonly string[];
  /** Whether the target's id and the sealer's address are authenticated. */
  bound: boolean;
}

/** The target's id, and all known addresses of its author and of the sealer. */
export interface SealNaming {
  keyId: string;
  authors: readonly string[];
  sealers: readonly string[];
}

const TAG_BYTES = 16;

/** @returns undefined when no combination of use and addresses opens it under this secret */
export function openSeal(sealed: Sealed, secret: Uint8Array, naming: SealNaming): Buffer | undefined {
  for (const use of sealed.uses) {
    for (const author of naming.authors) {
      for (const sealer of naming.sealers) {
        const opened = opens(sealed, secret, `${naming.keyId}${author}${sealer}${use}`, `${naming.keyId}\0${sealer}`);
        if (opened) return opened;
      }
    }
  }
  return undefined;
}

function opens({ iv, payload, bound }: Sealed, secret: Uint8Array, info: string, aad: string): Buffer | undefined {
  const key = Buffer.from(hkdfSync('sha256', secret, '', info, 32));
  const end = payload.length - TAG_BYTES;
  if (end < 0) return undefined;
  try {
    const cipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
    cipher.setAuthTag(payload.subarray(end));
    if (bound) cipher.setAAD(Buffer.from(aad));
    return Buffer.concat([cipher.update(payload.subarray(0, end)), cipher.final()]);
  } catch {
    return undefined; // sealed with another form of address, or for another use
  }
}
