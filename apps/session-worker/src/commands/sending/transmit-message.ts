import { GatewayError } from '@dormouse/gateway-contract';
import type { WireMessage } from '../../socket/requests/message-requests.js';
import { isNewsletter } from '../../convert/jid.js';
import { deferred } from '../../socket/deferred.js';
import type { MessageAck, OpenSession } from '../../socket/open-session.js';

/** The message was not given to the network: the library failed before it wrote it. */
export class NotTransmittedError extends Error {
  constructor(cause: unknown) {
    super('the message could not be handed to the network', { cause });
    this.name = 'NotTransmittedError';
  }
}

export interface TransmitOptions {
  /** Called once the words are on the wire, before the answer. */
  readonly onWritten: () => void;
  /** Goes on while the message is encrypted; nothing of it is said before this has ended well, nor if it fails. */
  readonly first?: Promise<unknown>;
}

/**
 * Gives a message to the network and waits for the network's own answer to it.
 * @throws {NotTransmittedError} when nothing of it was written
 * @throws {GatewayError} 502 when no answer came in time or the connection dropped first: it may have been said
 */
export async function transmitMessage(
  session: OpenSession,
  message: WireMessage,
  { onWritten, first }: TransmitOptions,
): Promise<MessageAck> {
  if (!first) return relay(session, message, onWritten);
  if (isNewsletter(message.jid)) await unsaidIfFails(first); // said as it is, without encryption
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
 * Lets what was begun reach its socket before the processor is taken. The pool of connections gives one out by a tick,
 * and ticks come after all that promises set off: encryption is nothing else, and the statement would leave after it.
 */
function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** The connection ended while nothing could have been said yet. */
function droppedBefore(cause: unknown): GatewayError {
  return new GatewayError(
    503,
    { details: 'the connection dropped before the message was sent', retryAfterS: 1 },
    { cause },
  );
}

async function unsaidIfFails(work: Promise<unknown>): Promise<void> {
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
  // A connection that drops leaves the library waiting for answers to its own questions: the answer's end is ours too.
  const unsaid = await Promise.race([outcome, acknowledged.then(() => undefined)]);
  if (unsaid) throw unsaid;
  onWritten();
  return acknowledged;
}
