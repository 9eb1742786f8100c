/**
 * Delivers an error to a client that is still sending its body. Closing a connection with unread bytes resets it, and a
 * client that is busy writing sees the reset before it has read the answer. So the answer is written first, the rest of
 * the body is discarded for a moment, and only then the connection is closed (RFC 9112, section 9.6).
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * How long the rest is discarded. A client that is busy sending several bodies may take more than 2 s until it reads the
 * answer; it then closes the connection. A drain of the server gives requests longer than this.
 */
export const LINGERS_MS = 10_000;

/** Discards the rest of a body. Resolves at its end, when the client has disconnected, or after {@link LINGERS_MS}. */
export function drainBody(body: Readable): Promise<void> {
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

/**
 * A response body that is written at once and ends when the rest of the request has been discarded. The caller must set
 * `content-length`, so that the client knows the end of the answer before the connection closes.
 */
export function lingeringClose(answer: string, request: IncomingMessage): Readable {
  const parts = async function* (): AsyncGenerator<string> {
    yield answer;
    await drainBody(request);
  };
  return Readable.from(parts(), { objectMode: false });
}
