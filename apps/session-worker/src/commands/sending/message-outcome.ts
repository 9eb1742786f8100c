/**
 * Transmits a stored message and records what the network answered.
 *
 * What it guarantees: the network's answer decides what the caller gets, whether it can be recorded or not. That the
 * network accepted the message is recorded beside the reply; when PostgreSQL goes away just then, the first receipt makes
 * up for it. What the network did not confirm is settled by `unconfirmed-sends.ts`.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import type { StatusReport } from '@dormouse/message-store/write';
import { inSpan } from '@dormouse/traces';
import { isGroup } from '../../convert/jid.js';
import { toMessageId } from '../../convert/message-id.js';
import { refusalOf } from '../../convert/refusal.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { WireMessage } from '../../socket/requests/message-requests.js';
import type { CommandContext } from '../command-context.js';
import { refusedMessage } from '../network-errors.js';
import type { MessageTools } from './message-tools.js';
import { NotTransmittedError, transmitMessage } from './transmit-message.js';

/** The network's code for a recipient it does not know. */
const NO_SUCH_RECIPIENT = 404;

/** Of the span that ends with the network's acknowledgement. */
const NETWORK = {
  'messaging.system': 'whatsapp',
  'messaging.destination.name': 'network',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
} as const;

const NOT_TRANSMITTED = { code: 502, message: 'the message could not be sent to the network' };

/** A message that has its id and its chat. */
export interface IdentifiedMessage extends WireMessage {
  readonly chatId: string;
}

/**
 * The message is encrypted while it is being stored: the two take about the same time.
 * @param sent.stored settles when the message is stored; absent: it was stored before
 * @throws {GatewayError} 502 naming the message's id when the network may have accepted it; what its refusal means
 * @throws what `stored` rejects with: nothing was transmitted then
 */
export async function transmitAndRecord(
  context: CommandContext,
  tools: MessageTools,
  { message, stored }: { message: IdentifiedMessage; stored?: Promise<void> },
): Promise<void> {
  const session = context.session();
  const { keyId } = message;
  const onWritten = (): void => context.leaveLane();
  const transmitted = inSpan('send network', { kind: 'client', facts: NETWORK }, async (span) => {
    const ack = await transmitMessage(session, message, stored ? { onWritten, first: stored } : { onWritten });
    if (ack.error !== undefined) span.fail(ack.error);
    return ack;
  });
  const { error, timestampS = nowS(tools) } = await transmitted.catch(async (failure: unknown) => {
    if (!(failure instanceof NotTransmittedError)) {
      tools.unconfirmed.add(session, keyId); // it may have been sent
      throw withMessageId(failure, message);
    }
    await stored; // a message that could not be stored has no status
    const errors = [NOT_TRANSMITTED];
    await recordStatus(tools, session, { keyId, status: 'failed', timestamp: nowS(tools), errors });
    throw failure.cause;
  });
  await stored; // a message without a device to encrypt it for was acknowledged without waiting for the store
  if (error === undefined) {
    context.afterAnswer(() => recordStatus(tools, session, { keyId, status: 'sent', timestamp: timestampS }));
    return;
  }
  const refusal = refusalOf(error);
  await recordStatus(tools, session, { keyId, status: 'failed', timestamp: timestampS, errors: [refusal] });
  // A well-formed number that is not on the network is no mistake of the caller: the message's status shows it.
  if (refusal.code === NO_SUCH_RECIPIENT && !isGroup(message.jid)) return;
  throw refusedMessage(error);
}

/** With the message's id the caller can look up what became of it. */
function withMessageId(failure: unknown, { keyId, chatId }: IdentifiedMessage): unknown {
  if (!(failure instanceof GatewayError) || failure.status !== 502) return failure;
  const id = toMessageId({ keyId, fromMe: true, chatId });
  return new GatewayError(502, { details: `${failure.details ?? 'the outcome is not known'}; its id is ${id}` });
}

/** Does not reject: the caller gets the network's answer in any case. */
async function recordStatus(tools: MessageTools, session: OpenSession, status: StatusReport): Promise<void> {
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
