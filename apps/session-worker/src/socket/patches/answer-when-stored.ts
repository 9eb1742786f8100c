/**
 * A receipt or a notice is acknowledged to the network when what it reports is stored.
 *
 * Why: the library answers either as soon as it has emitted it (messages-recv.js of 7.0.0-rc14, handleReceipt
 * and handleNotification), and the network never sends it again. Both pass through a mutex of theirs first, and the answer
 * follows when that is through.
 *
 * What it guarantees: an answer leaves only after the stores have taken everything that was emitted before it; if they
 * could not, none leaves, and the network brings the stanza to the next socket. Receipts do not wait for each other. A
 * device that is just being linked has nothing to lose and is answered for as before.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

type Answering = Pick<WASocket, 'receiptMutex' | 'notificationMutex' | 'ws'>;

/** @param stored resolves when everything that was emitted so far is stored; false when something could not be */
export function answerWhenStored(socket: Answering, stored: () => Promise<boolean>): void {
  for (const mutex of [socket.receiptMutex, socket.notificationMutex]) {
    const run = mutex.mutex.bind(mutex);
    mutex.mutex = async (work) => {
      const result = await run(work);
      if (!(await stored())) await never();
      return result;
    };
  }
  // Stanzas of the time away wait for each other; a receipt takes its effect by itself, whenever its message comes.
  socket.ws.prependListener('CB:receipt', ({ attrs }: BinaryNode) => delete attrs['offline']);
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
