import { GatewayError } from '@dormouse/gateway-contract';
import { isNewsletter } from '../../convert/jid.js';
import { deferred } from '../../socket/deferred.js';
import type { MessageAck, OpenSession } from '../../socket/open-session.js';
import type { WireMessage } from '../../socket/requests/message-requests.js';

/** The message was not transmitted: the library failed before it wrote it. */
export class NotTransmittedError extends Error {
  constructor(cause: unknown) {
    super('the message could not be sent to the network', { cause });
    this.name = 'NotTransmittedError';
  }
}

export interface TransmitOptions {
  /** Called once the message is on the wire, before the acknowledgement. */
  readonly onWritten: () => void;
  /** Runs while the message is encrypted; nothing is transmitted before this has ended well, nor if it fails. */
  readonly first?: Promise<unknown>;
}

/**
 * Transmits a message and waits for the network's own acknowledgement.
 * @throws {NotTransmittedError} when nothing of it was written
 * @throws {GatewayError} 502 when no acknowledgement came in time or the connection dropped first: it may have been sent
 */
export async function transmitMessage(
  session: OpenSession,
  message: WireMessage,
  { onWritten, first }: TransmitOptions,
): Promise<MessageAck> {
  if (!first) return relay(session, message, onWritten);
  if (isNewsletter(message.jid)) await failsBeforeTransmission(first); // not encrypted: nothing would hold it back
  let isReady = false;
  const release = session.holdCiphertext(first.then(() => void (isReady = true)));
  try {
    await nextTick();
    return await relay(session, message, () => (release(), onWritten()));
  } catch (error) {
    if (isReady || error instanceof NotTransmittedError) throw error;
    throw new NotTransmittedError(droppedBefore(error));
  } finally {
    release();
  }
}

/**
 * Lets a statement that was begun reach its connection before encryption occupies the processor. The pool gives a
 * connection out by `process.nextTick`, and ticks run after all promise callbacks, which is what encryption consists of:
 * without this the statement would leave after it.
 */
function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** The connection ended before anything could have been transmitted. */
function droppedBefore(cause: unknown): GatewayError {
  return new GatewayError(
    503,
    { details: 'the connection dropped before the message was sent', retryAfterS: 1 },
    { cause },
  );
}

async function failsBeforeTransmission(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    throw new NotTransmittedError(error);
  });
}

async function relay(session: OpenSession, message: WireMessage, onWritten: () => void): Promise<MessageAck> {
  const { keyId } = message;
  const begun = deferred<unknown>();
  const written = begun.promise;
  const acknowledged = session.expectAck(keyId, written);
  begun.resolve(session.network.messages.relay(message));
  const outcome = written.then(
    () => undefined,
    (error: unknown) => new NotTransmittedError(error),
  );
  // After a dropped connection the library goes on waiting for answers to its queries: what ends the wait for the
  // acknowledgement ends this one, too.
  const failure = await Promise.race([outcome, acknowledged.then(() => undefined)]);
  if (failure) throw failure;
  onWritten();
  return acknowledged;
}
