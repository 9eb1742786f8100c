import { GatewayError, type Message, type MessageInput, type Success } from '@dormouse/gateway-contract';
import type { MessageWriter, StoredMessage } from '@dormouse/message-store/write';
import { deletionEdit, deletionToNetwork, keyToNetwork, reactionToNetwork } from '../../convert/act-to-network.js';
import { withReaction } from '../../convert/change-from-network.js';
import { forwardToNetwork } from '../../convert/forward-to-network.js';
import { isGroup } from '../../convert/jid.js';
import { actOnMessage } from '../sending/act-on-message.js';
import type { CommandContext, Handlers } from '../command-context.js';
import { composeAndSend } from '../sending/compose-message.js';
import { findMessage } from '../sending/find-message.js';
import { editMessage } from '../sending/edit-message.js';
import { isGroupAdmin } from '../sending/recipient.js';
import { withRenewedFile } from '../sending/renew-file.js';
import type { MediaTools, MessageTools } from '../sending/message-tools.js';

/** What handlers of actions on messages need. */
export interface MessageActionTools extends MediaTools {
  readonly writer: MessageTools['writer'] & Pick<MessageWriter, 'recordRead' | 'recordRemoval'>;
}

type MessageActions =
  | 'messages.forward'
  | 'messages.markRead'
  | 'messages.edit'
  | 'messages.delete'
  | 'messages.react'
  | 'messages.refresh';

const FIELD = 'MessageID';
const DONE: Success = { success: true };

/** Commands on existing messages. An unknown one is 404. */
export function messageActionHandlers(tools: MessageActionTools): Pick<Handlers, MessageActions> {
  return {
    'messages.forward': {
      prepare: async (preparing, { messageId, to }) => {
        const target = await findMessage(preparing, tools, messageId, FIELD);
        const renewed = await withRenewedFile(preparing, tools, target);
        const composed = forwardToNetwork(renewed);
        if (!composed) throw new GatewayError(403, { details: `${FIELD}: a message of this kind cannot be forwarded` });
        return (context) =>
          composeAndSend(context, tools, { to }, (around) => forwardToNetwork(renewed, around) ?? composed);
      },
    },
    'messages.markRead': (context, input) => markRead(context, tools, input),
    'messages.edit': (context, { messageId, body, mentions }) =>
      editMessage(context, tools, { id: messageId, body, context: { mentions }, field: FIELD }),
    'messages.delete': async (context, { messageId }) => {
      const target = await findMessage(context, tools, messageId, FIELD);
      if (target.message.status === 'deleted') return DONE;
      if (await mayDeleteForEveryone(context, target)) await deleteForEveryone(context, tools, target);
      else await deleteForMe(context, tools, target);
      return DONE;
    },
    'messages.react': async (context, { messageId, emoji }) => {
      const target = await findMessage(context, tools, messageId, FIELD);
      if (emoji === '' && !hasReacted(target.message, context.session().identity.phone)) return DONE;
      await actOnMessage(context, tools, {
        target,
        content: reactionToNetwork(target, emoji, tools.now()),
        action: { type: 'reaction', emoji },
        apply: (before, trigger) => withReaction(before, trigger, emoji),
      });
      return DONE;
    },
    /** The network delivers a message once: an open session has received all there is. */
    'messages.refresh': async (context, { messageId }) => {
      context.session().network.events.flush();
      const message = await tools.reader.message(context.channelId, messageId);
      if (!message) throw new GatewayError(404, { details: `${FIELD}: no such message` });
      return message;
    },
  };
}

function hasReacted({ reactions = [] }: Message, author: string): boolean {
  return reactions.some((reaction) => reaction.author === author);
}

/** There is no receipt for own messages. */
async function markRead(
  context: CommandContext,
  tools: MessageActionTools,
  { messageId }: MessageInput,
): Promise<Success> {
  const target = await findMessage(context, tools, messageId, FIELD);
  if (target.message.from_me || target.message.type === 'system') return DONE;
  const session = context.session();
  await session.network.messages.markRead([keyToNetwork(target)]);
  await tools.writer.recordRead(session.fence, context.channelId, [target.key.id]);
  return DONE;
}

/** The author may, and the admins of a group. */
async function mayDeleteForEveryone(context: CommandContext, { message, key }: StoredMessage): Promise<boolean> {
  if (message.from_me) return message.status !== 'failed';
  return isGroup(key.remote) && message.type !== 'system' && isGroupAdmin(context.session(), key.remote);
}

async function deleteForEveryone(context: CommandContext, tools: MessageTools, target: StoredMessage): Promise<void> {
  await actOnMessage(context, tools, {
    target,
    content: deletionToNetwork(target),
    edit: deletionEdit(target),
    action: { type: 'delete' },
    apply: (before) => (before.status === 'deleted' ? undefined : { ...before, status: 'deleted' }),
  });
}

/** On the channel's own devices only. */
async function deleteForMe(context: CommandContext, tools: MessageActionTools, target: StoredMessage): Promise<void> {
  const session = context.session();
  const key = keyToNetwork(target);
  const { timestamp } = target.message;
  await session.network.chats.deleteMessage(target.key.remote, key, timestamp);
  const { seqs } = await tools.writer.recordRemoval(session.fence, context.channelId, [target.key.id]);
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}
