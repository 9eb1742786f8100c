/**
 * How a refusal reaches a client that is still sending. Closing a connection on which unread bytes wait resets it, and a
 * client that is busy writing meets the reset before it has read the answer. So the answer is written whole, what still
 * comes is thrown away for a moment, and only then the connection ends (RFC 9112, section 9.6).
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Longer than an answer needs to any client; a client that has read it ends the connection by itself. */
const LINGERS_MS = 2_000;

/** Throws away what comes of a body. Resolves at its end, when the client is gone, or after two seconds. */
export function throwAwayRest(body: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      body.off('end', done).off('close', done).pause();
      resolve();
    };
    const timer = setTimeout(done, LINGERS_MS);
    body.once('end', done).once('close', done).resume();
    if (body.destroyed || body.readableEnded) done();
  });
}

/** An answer that is written at once and ends when the rest of the question has been thrown away. Give its length, too. */
export function lingering(answer: string, question: IncomingMessage): Readable {
  const parts = async function* (): AsyncGenerator<string> {
    yield answer;
    await throwAwayRest(question);
  };
  return Readable.from(parts(), { objectMode: false });
}
