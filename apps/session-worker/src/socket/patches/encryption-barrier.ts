/**
 * Holds back what was encrypted until something else is done: a message may be stored while it is being encrypted, and is
 * still stored before the network receives it.
 *
 * What it guarantees: from `hold(work)` on, no ciphertext reaches the library before `work` has ended well; if it fails,
 * the encryption fails and its step of the ratchet is not kept. Held are ciphertexts, not frames: frames are numbered by
 * the connection's own cipher, so that none of them can be dropped, and questions to the network are to pass.
 */
import type { SignalRepositoryWithLIDStore } from '@whiskeysockets/baileys';

export class EncryptionBarrier {
  private readonly holds = new Set<Promise<unknown>>();

  /** @returns ends the hold; safe to call twice */
  hold(work: Promise<unknown>): () => void {
    work.catch(() => undefined); // thrown to each encryption that waits for it
    this.holds.add(work);
    return () => void this.holds.delete(work);
  }

  /** Makes a socket's encryption wait. */
  guard(repository: Pick<SignalRepositoryWithLIDStore, 'encryptMessage' | 'encryptGroupMessage'>): void {
    const encryptMessage = repository.encryptMessage.bind(repository);
    const encryptGroupMessage = repository.encryptGroupMessage.bind(repository);
    repository.encryptMessage = (what) => this.released(encryptMessage(what));
    repository.encryptGroupMessage = (what) => this.released(encryptGroupMessage(what));
  }

  private async released<T>(encryption: Promise<T>): Promise<T> {
    const encrypted = await encryption;
    await Promise.all(this.holds);
    return encrypted;
  }
}
