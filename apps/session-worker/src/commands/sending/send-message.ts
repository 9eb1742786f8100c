/**
 * Sends one message.
 *
 * What it guarantees: the message has its id, is stored and has its event as pending before it is transmitted, so that
 * no sent message is unknown to its customer, and a recipient that cannot decrypt it gets it again even after a crash. It
 * is transmitted once. The caller gets a success only after the network's own acknowledgement. A send that its caller
 * repeats has the same id: what the network accepted is not sent again; what it may have accepted is sent again as the
 * same message, which phones show once. With PostgreSQL away nothing is sent.
 *
 * The way of a send: `compose-message.ts` (recipient, quote, context), this file (id and record), `message-outcome.ts`
 * (what the network answered), `transmit-message.ts` (the wire).
 */
import { randomBytes } from 'node:crypto';
import { FencedError } from '@dormouse/database';
import { GatewayError, type Message, type SentMessage } from '@dormouse/gateway-contract';
import type { MessageRecord, StoredMessage } from '@dormouse/message-store/write';
import { decodeMessage, encodeMessage, type MessageContent } from '../../convert/message-bytes.js';
import { toMessageId } from '../../convert/message-id.js';
import { MESSAGE_SECRET_BYTES, withMessageSecret } from '../../convert/message-secret.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CommandContext } from '../command-context.js';
import { chooseKeyId } from './message-key.js';
import { transmitAndRecord } from './message-outcome.js';
import type { MessageTools } from './message-tools.js';
import type { Destination } from './recipient.js';

/** A message to be sent, with the part of its wire shape that the customer chose. */
export interface OutgoingMessage {
  to: Destination;
  content: MessageContent;
  shown: Pick<Message, 'type'> & Partial<Message>;
}

/**
 * @returns the message as it was stored; a repeated one with the status it has by now
 * @throws {GatewayError} 503 when it could not be stored: it was not sent; see {@link transmitAndRecord}
 */
export async function sendMessage(
  context: CommandContext,
  tools: MessageTools,
  { to, content: composed, shown }: OutgoingMessage,
): Promise<SentMessage> {
  const { keyId, earlier } = await chooseKeyId(context, tools, to.chatId);
  if (earlier) return sendAgain(context, tools, to, earlier);
  const content = withMessageSecret(composed, () => randomBytes(MESSAGE_SECRET_BYTES));
  const session = context.session();
  const { phone, deviceId } = session.identity;
  const message: Message = {
    id: toMessageId({ keyId, fromMe: true, chatId: to.chatId }),
    from_me: true,
    chat_id: to.chatId,
    timestamp: Math.floor(tools.now() / 1_000),
    source: 'api',
    device_id: deviceId,
    status: 'pending',
    ...shown,
    from: phone,
  };
  const record: MessageRecord = {
    message,
    key: { id: keyId, remote: to.jid },
    proto: encodeMessage(content),
  };
  const stored = store(context, tools, session, record);
  stored.catch(() => undefined); // awaited by transmitAndRecord, unless the message failed for another reason first
  await transmitAndRecord(context, tools, { message: { keyId, ...to, content }, stored });
  return { sent: true, message };
}

/** @throws {GatewayError} 503 when it could not be stored: it was not sent */
async function store(
  { channelId }: CommandContext,
  tools: MessageTools,
  session: OpenSession,
  record: MessageRecord,
): Promise<void> {
  try {
    const { seqs } = await tools.writer.recordMessage(session.fence, channelId, record);
    if (seqs.length > 0) tools.eventsReady(channelId);
  } catch (error) {
    if (error instanceof FencedError) throw error;
    const facts = { details: 'the message could not be stored: it was not sent', retryAfterS: 3 };
    throw new GatewayError(503, facts, { cause: error });
  }
}

/** A stored message is sent again only if it is unknown whether the network accepted it. */
async function sendAgain(
  context: CommandContext,
  tools: MessageTools,
  to: Destination,
  { message, key, proto: bytes }: StoredMessage,
): Promise<SentMessage> {
  if ((message.status !== 'pending' && message.status !== 'failed') || !bytes) return { sent: true, message };
  await transmitAndRecord(context, tools, { message: { keyId: key.id, ...to, content: decodeMessage(bytes) } });
  return { sent: true, message: { ...message, status: 'pending' } };
}
