import { randomBytes } from 'node:crypto';
import type { ActionContent, Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { encodeMessage, type MessageContent } from '../../convert/message-bytes.js';
import { toMessageId } from '../../convert/message-id.js';
import { MESSAGE_SECRET_BYTES, withMessageSecret } from '../../convert/message-secret.js';
import type { WireMessage } from '../../socket/requests/message-requests.js';
import type { CommandContext } from '../command-context.js';
import { refusedMessage } from '../network-errors.js';
import { keyIdFor } from './message-key.js';
import type { MessageTools } from './message-tools.js';
import { NotTransmittedError, transmitMessage } from './transmit-message.js';

/** An action on an existing message. On the network it is a message of its own. */
export interface MessageAction {
  target: StoredMessage;
  content: MessageContent;
  /** The stanza's `edit` attribute: 1 edit, 7 deletion by the author, 8 by an admin. */
  edit?: string;
  /** As customers see it, without its target. */
  action: ActionContent;
  /** The target as it is afterwards; undefined when the action changes nothing of it. */
  apply: (before: Message, trigger: Message) => Message | undefined;
}

/**
 * Sends the action, then stores the change with its events: a refused action changes nothing. The action itself is stored
 * in the network's form, too, for a recipient that cannot decrypt it.
 * @throws {GatewayError} what the network's refusal means; 502 when it may have been done
 */
export async function actOnMessage(
  context: CommandContext,
  tools: MessageTools,
  { target, content: composed, edit, action, apply }: MessageAction,
): Promise<void> {
  const content = withMessageSecret(composed, () => randomBytes(MESSAGE_SECRET_BYTES));
  const keyId = keyIdFor(context);
  const { remote } = target.key;
  const attributes = edit === undefined ? {} : { attributes: { edit } };
  await transmitAction(context, { keyId, jid: remote, content, ...attributes });
  const session = context.session();
  const { chat_id: chatId, id: targetId } = target.message;
  const { phone, deviceId } = session.identity;
  const trigger: Message = {
    id: toMessageId({ keyId, fromMe: true, chatId }),
    from_me: true,
    type: 'action',
    chat_id: chatId,
    timestamp: Math.floor(tools.now() / 1_000),
    source: 'api',
    device_id: deviceId,
    status: 'sent',
    action: { ...action, target: targetId },
    from: phone,
  };
  const { seqs } = await tools.writer.recordChange(session.fence, context.channelId, {
    trigger: { message: trigger, key: { id: keyId, remote }, proto: encodeMessage(content) },
    target: { keyId: target.key.id, chatId },
    apply: (before) => apply(before, trigger),
  });
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}

async function transmitAction(context: CommandContext, message: WireMessage): Promise<void> {
  const onWritten = (): void => context.leaveLane();
  const { error } = await transmitMessage(context.session(), message, { onWritten }).catch((failure: unknown) => {
    throw failure instanceof NotTransmittedError ? failure.cause : failure;
  });
  if (error !== undefined) throw refusedMessage(error);
}
