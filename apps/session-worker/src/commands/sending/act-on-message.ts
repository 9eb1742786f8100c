import { randomBytes } from 'node:crypto';
import type { ActionContent, Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { encodeMessage, type MessageContent } from '../../convert/message-bytes.js';
import { toMessageId } from '../../convert/message-id.js';
import { MESSAGE_SECRET_BYTES, withMessageSecret } from '../../convert/message-secret.js';
import type { CommandContext } from '../command-context.js';
import { transmitMessage, NotTransmittedError } from './transmit-message.js';
import { keyIdFor } from './message-key.js';
import { refusedMessage } from '../network-errors.js';
import type { MessageTools } from './message-tools.js';

/** Something done to a message that is there: itself a message on the network. */
export interface Act {
  target: StoredMessage;
  content: MessageContent;
  /** The stanza's `edit` attribute: 1 edit, 7 deletion by the author, 8 by an admin. */
  edit?: string;
  /** As customers see it, without its target. */
  action: ActionContent;
  /** The target as it is afterwards. */
  apply: (before: Message, trigger: Message) => Message | undefined;
}

/**
 * Does it. The change is stored and told after the network took it: a refused one changed nothing. The act itself is kept
 * in the network's form, too, for a recipient that could not read it.
 * @throws {GatewayError} what the network's refusal stands for; 502 when it may have been done
 */
export async function actOn(context: CommandContext, tools: MessageTools, act: Act): Promise<void> {
  const { target, edit, action, apply } = act;
  const content = withMessageSecret(act.content, () => randomBytes(MESSAGE_SECRET_BYTES));
  const session = context.session();
  const keyId = keyIdFor(context);
  const { remote } = target.key;
  const attributes = edit === undefined ? {} : { attributes: { edit } };
  const { error } = await transmitMessage(
    session,
    { keyId, jid: remote, content, ...attributes },
    {
      onWritten: () => context.leaveLane(),
    },
  ).catch((failure: unknown) => {
    throw failure instanceof NotTransmittedError ? failure.cause : failure;
  });
  if (error !== undefined) throw refusedMessage(error);
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
  const bytes = encodeMessage(content);
  const { seqs } = await tools.writer.recordChange(session.fence, context.channelId, {
    trigger: { message: trigger, key: { id: keyId, remote }, proto: bytes },
    target: { keyId: target.key.id, chatId },
    apply: (before) => apply(before, trigger),
  });
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}
