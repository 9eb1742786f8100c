import {
  CHAT_EPHEMERAL_S,
  GatewayError,
  type Chat,
  type PatchChatInput,
  type Success,
} from '@dormouse/gateway-contract';
import type { MessageReader } from '@dormouse/message-store/read';
import type { ChatRecord, ChatWriter, KeyedMoment } from '@dormouse/message-store/write';
import { FOREVER_MS } from '../../convert/chat.js';
import type { LastMessage } from '../../socket/requests/chat-requests.js';
import type { CommandContext, Handlers } from '../command-context.js';

/** What handlers of chats need. */
export interface ChatTools {
  readonly reader: Pick<MessageReader, 'chat'>;
  readonly chats: ChatWriter;
  readonly eventsReady: (channelId: string) => void;
}

const DONE: Success = { success: true };
/** Maximum number of receipts for unread messages; older ones count as read with them. */
const MAX_RECEIPTS = 100;

/** Changes of chats go through the state that the phone shares with its devices. An unknown chat is 404. */
export function chatHandlers(tools: ChatTools): Pick<Handlers, 'chats.markRead' | 'chats.update' | 'chats.delete'> {
  return {
    'chats.markRead': async (context, { chatId }) => {
      const chat = await find(context, tools, chatId);
      await markRead(context, tools, chat);
      await record(context, tools, { id: chat.id, unread: 0 });
      return DONE;
    },
    'chats.update': async (context, input) => {
      const chat = await find(context, tools, input.chatId);
      await record(context, tools, await apply(context, tools, chat, input));
      return DONE;
    },
    'chats.delete': async (context, { chatId }) => {
      const chat = await find(context, tools, chatId);
      const last = await lastMessagesOf(context, tools, chat.id);
      const session = context.session();
      await session.network.chats.delete(chat.id, last);
      await session.forgetSettled();
      const { seqs } = await tools.chats.deleteChat(session.fence, context.channelId, chat.id);
      if (seqs.length > 0) tools.eventsReady(context.channelId);
      await tools.chats.finishRemovals(session.fence, context.channelId);
      return DONE;
    },
  };
}

async function find({ channelId }: CommandContext, { reader }: ChatTools, chatId: string): Promise<Chat> {
  const chat = await reader.chat(channelId, chatId);
  if (!chat) throw new GatewayError(404, { details: 'ChatID: no such chat' });
  return chat;
}

/** Each change is made separately; those before one that fails are stored, with their events. */
async function apply(
  context: CommandContext,
  tools: ChatTools,
  chat: Chat,
  input: PatchChatInput,
): Promise<ChatRecord> {
  const changed: ChatRecord = { id: chat.id };
  const chats = () => context.session().network.chats;
  try {
    const last = await lastMessagesOf(context, tools, chat.id);
    if (input.archive !== undefined) {
      await chats().setArchived(chat.id, input.archive, last);
      changed.archived = input.archive;
    }
    if (input.pin !== undefined) {
      await chats().setPinned(chat.id, input.pin);
      changed.pinned = input.pin;
    }
    const untilMs = muteUntil(input);
    if (untilMs !== undefined) {
      await chats().mute(chat.id, untilMs);
      changed.muteUntilMs = untilMs;
    }
    if (input.mark_unread === true) {
      await chats().setRead(chat.id, false, last);
      changed.markedUnread = true;
    } else if (input.mark_unread === false) {
      await markRead(context, tools, chat);
      changed.unread = 0;
    }
    if (input.ephemeral !== undefined) await chats().setTimer(chat.id, CHAT_EPHEMERAL_S[input.ephemeral]);
  } catch (error) {
    await record(context, tools, changed);
    throw error;
  }
  return changed;
}

/** Epoch milliseconds, 0 for not muted; undefined when the request does not change it. */
function muteUntil({ mute, mute_until: untilMs }: PatchChatInput): number | undefined {
  if (untilMs !== undefined) return untilMs;
  return mute === undefined ? undefined : mute ? FOREVER_MS : 0;
}

/** Sends the authors of unread messages receipts, and marks the chat as read on the phone. */
async function markRead(context: CommandContext, tools: ChatTools, chat: Chat): Promise<void> {
  const { unread = 0 } = chat;
  if (unread > 0) {
    const count = Math.min(unread, MAX_RECEIPTS);
    const moments = await tools.chats.lastMoments(context.channelId, chat.id, { count, fromOthers: true });
    if (moments.length > 0) await context.session().network.messages.markRead(moments.map(keyOf));
  }
  const last = await lastMessagesOf(context, tools, chat.id);
  await context.session().network.chats.setRead(chat.id, true, last);
}

/** The network requires the last message up to which a change of a chat applies. */
async function lastMessagesOf(context: CommandContext, tools: ChatTools, chatId: string): Promise<LastMessage[]> {
  const moments = await tools.chats.lastMoments(context.channelId, chatId, { count: 1, fromOthers: false });
  return moments.map((moment) => ({ key: keyOf(moment), timestampS: moment.timestamp }));
}

function keyOf({ id, remote, participant, fromMe }: KeyedMoment) {
  return { id, remoteJid: remote, fromMe, ...(participant !== undefined && { participant }) };
}

async function record(context: CommandContext, tools: ChatTools, changed: ChatRecord): Promise<void> {
  if (Object.keys(changed).length === 1) return;
  const { fence } = context.session();
  const { seqs } = await tools.chats.recordChats(fence, context.channelId, [changed]);
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}
