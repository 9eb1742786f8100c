/**
 * What clients seal under the secret of the message that it belongs to: votes, edits, answers to events, reactions and
 * comments in announcements.
 *
 * The key is HKDF-SHA256 of the secret; its info is the target's network id, the address of the target's author, the
 * address of who seals, and what for. The cipher is AES-256-GCM; votes and answers to events also authenticate the id and
 * the address of who seals (whatsmeow, msgsecret.go). Addresses are in the naming of the sealing client, number or LID.
 */
import { createDecipheriv, hkdfSync } from 'node:crypto';

export interface Sealed {
  iv: Uint8Array;
  /** The ciphertext, and 16 bytes of tag behind it. */
  payload: Uint8Array;
  /** What it may be sealed for, as in the key's info. */
  uses: readonly string[];
  /** The id and the address are authenticated. */
  bound: boolean;
}

/** Whose message it belongs to and who sealed it: every address that either may have. */
export interface SealNaming {
  keyId: string;
  authors: readonly string[];
  sealers: readonly string[];
}

const TAG_BYTES = 16;

/** @returns undefined when it does not open under this secret in any naming */
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
    return undefined; // sealed in another naming, or for something else
  }
}
