import type { proto } from '@whiskeysockets/baileys';
import { deferred } from '../sessions/deferred.js';
import type { MessageAck, OpenSession } from '../sessions/open-session.js';

/** One message for the wire. */
export interface WireMessage {
  keyId: string;
  jid: string;
  content: proto.IMessage;
  /** Attributes of the stanza beyond the usual (`edit`). */
  attributes?: Record<string, string>;
}

/** The message was not given to the network: the library failed before it wrote it. */
export class UnsaidError extends Error {
  constructor(cause: unknown) {
    super('the message could not be handed to the network', { cause });
    this.name = 'UnsaidError';
  }
}

/**
 * Gives a message to the network and waits for the network's own answer to it.
 * @param onWritten called once the words are on the wire, before the answer
 * @throws {UnsaidError} when nothing of it was written
 * @throws {GatewayError} 502 when no answer came in time or the connection dropped first: it may have been said
 */
export async function handOver(session: OpenSession, message: WireMessage, onWritten: () => void): Promise<MessageAck> {
  const { keyId, jid, content, attributes } = message;
  const begun = deferred<unknown>();
  const written = begun.promise;
  const acknowledged = session.expectAck(keyId, written);
  begun.resolve(
    session.socket.relayMessage(jid, content, {
      messageId: keyId,
      ...(attributes && { additionalAttributes: attributes }),
    }),
  );
  const outcome = written.then(
    () => undefined,
    (error: unknown) => new UnsaidError(error),
  );
  // A connection that drops leaves the library waiting for answers to its own questions: the answer's end is ours too.
  const unsaid = await Promise.race([outcome, acknowledged.then(() => undefined)]);
  if (unsaid) throw unsaid;
  onWritten();
  return acknowledged;
}
