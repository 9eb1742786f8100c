/**
 * Says one message to the network.
 *
 * What it guarantees: the message has its id before it is said; it is stored and told as pending before the network
 * hears it, so nothing said is untold and a recipient that could not read it can be answered after a crash; it is given
 * to the network once; the caller gets a success only after the network's own acknowledgement. A send that its caller
 * repeats has the same id again: what the network took is not said again, and what it may have taken is said again as the
 * same message, which phones show once. What nobody confirmed is settled by `unconfirmed-sends.ts`. With PostgreSQL away nothing is said. That the network took it is written
 * beside the answer: when PostgreSQL goes away just then, the caller still hears the truth of the network, and the first
 * receipt makes up for the step that was not written.
 */
import { randomBytes } from 'node:crypto';
import { FencedError } from '@dormouse/database';
import { GatewayError, type Message, type SentMessage } from '@dormouse/gateway-contract';
import type { MessageRecord, StatusReport, StoredMessage } from '@dormouse/message-store/write';
import { isGroup } from '../../convert/jid.js';
import { decodeMessage, encodeMessage, type MessageContent } from '../../convert/message-bytes.js';
import { toMessageId } from '../../convert/message-id.js';
import { MESSAGE_SECRET_BYTES, withMessageSecret } from '../../convert/message-secret.js';
import { refusalOf } from '../../convert/refusal.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { WireMessage } from '../../socket/requests/message-requests.js';
import type { CommandContext } from '../command-context.js';
import { keyIdFor, repeatedKeyId } from './message-key.js';
import type { MessageTools } from './message-tools.js';
import { transmitMessage, NotTransmittedError } from './transmit-message.js';
import { refusedMessage } from '../network-errors.js';
import type { Destination } from './recipient.js';

/** A message to be said, with the part of its wire shape that the customer chose. */
export interface OutgoingMessage {
  to: Destination;
  content: MessageContent;
  shown: Pick<Message, 'type'> & Partial<Message>;
}

export async function sendMessage(
  context: CommandContext,
  tools: MessageTools,
  { to, content: composed, shown }: OutgoingMessage,
): Promise<SentMessage> {
  const { keyId, said } = await nameOf(context, tools, to.chatId);
  if (said) return repeat(context, tools, to, said);
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
  stored.catch(() => undefined); // met below, unless the message failed for another reason first
  await transmit(context, tools, session, { message: { keyId, ...to, content }, stored });
  return { sent: true, message };
}

/** @throws {GatewayError} 503 when it could not be stored: nothing was said then */
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

/**
 * The network's id for a send: a new one, or the one that its caller's repetition has again. What the network refused is
 * sent as another message, because a refused one stays failed; what it merely never confirmed keeps its id.
 */
async function nameOf(
  context: CommandContext,
  tools: MessageTools,
  chatId: string,
): Promise<{ keyId: string; said?: StoredMessage | undefined }> {
  const { channelId, sendAs } = context;
  if (sendAs === undefined) return { keyId: keyIdFor(context) };
  for (let attempt = 1; ; attempt += 1) {
    const keyId = repeatedKeyId(sendAs, attempt);
    const said = await tools.writer.find(channelId, toMessageId({ keyId, fromMe: true, chatId }));
    if (said?.message.status !== 'failed') return { keyId, said };
    if (await tools.writer.isUnconfirmed(channelId, keyId)) return { keyId, said };
  }
}

/** The message that is stored is said again only if nobody knows whether the network took it. */
async function repeat(
  context: CommandContext,
  tools: MessageTools,
  to: Destination,
  { message, key, proto: bytes }: StoredMessage,
): Promise<SentMessage> {
  if ((message.status === 'pending' || message.status === 'failed') && bytes) {
    const again = { keyId: key.id, ...to, content: decodeMessage(bytes) };
    await transmit(context, tools, context.session(), { message: again });
    return { sent: true, message: { ...message, status: 'pending' } };
  }
  return { sent: true, message };
}

/**
 * Gives the message to the network and writes down what the network makes of it. It is encrypted while it is being
 * stored: the two take as long as each other.
 */
async function transmit(
  context: CommandContext,
  tools: MessageTools,
  session: OpenSession,
  { message, stored }: { message: WireMessage & { chatId: string }; stored?: Promise<void> },
): Promise<void> {
  const { keyId } = message;
  const onWritten = (): void => context.leaveLane();
  const handedOver = transmitMessage(session, message, stored ? { onWritten, first: stored } : { onWritten });
  const { error, timestampS = nowS(tools) } = await handedOver.catch(async (failure: unknown) => {
    if (!(failure instanceof NotTransmittedError)) {
      tools.unconfirmed.add(session, keyId); // it may have been sent
      throw named(failure, message);
    }
    await stored; // what could not be stored has no status
    await report(tools, session, { keyId, status: 'failed', timestamp: nowS(tools), errors: [UNSAID] });
    throw failure.cause;
  });
  await stored; // a message that nobody could be encrypted for waited for nothing
  if (error === undefined) {
    context.afterAnswer(() => report(tools, session, { keyId, status: 'sent', timestamp: timestampS }));
    return;
  }
  const refusal = refusalOf(error);
  await report(tools, session, { keyId, status: 'failed', timestamp: timestampS, errors: [refusal] });
  // A well-formed number that is not on the network is no mistake of the caller: its status tells.
  if (refusal.code === NO_SUCH_RECIPIENT && !isGroup(message.jid)) return;
  throw refusedMessage(error);
}

/** The caller can look up what became of the message. */
function named(failure: unknown, { keyId, chatId }: WireMessage & { chatId: string }): unknown {
  if (!(failure instanceof GatewayError) || failure.status !== 502) return failure;
  const id = toMessageId({ keyId, fromMe: true, chatId });
  return new GatewayError(502, { details: `${failure.details ?? 'the outcome is not known'}; its id is ${id}` });
}

/** The network's code for a recipient it does not know. */
const NO_SUCH_RECIPIENT = 404;

const UNSAID = { code: 502, message: 'the message could not be handed to the network' };

/** What the network said is true whether it can be written down or not: the caller hears it either way. */
async function report(tools: MessageTools, session: OpenSession, status: StatusReport): Promise<void> {
  try {
    const { seqs } = await tools.writer.recordStatuses(session.fence, session.channelId, [status]);
    if (seqs.length > 0) tools.eventsReady(session.channelId);
  } catch (error) {
    session.reportFault(error);
  }
}

function nowS(tools: MessageTools): number {
  return Math.floor(tools.now() / 1_000);
}
