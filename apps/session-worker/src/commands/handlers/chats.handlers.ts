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
/** Receipts go out for so many unread messages at most; older ones count as read with them. */
const MOST_RECEIPTS = 100;

/** What is done to chats goes through the state that the phone shares with its devices. An unknown chat is 404. */
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

/** Each change is one of the phone's; what was made before one that fails is kept and told. */
async function apply(
  context: CommandContext,
  tools: ChatTools,
  chat: Chat,
  input: PatchChatInput,
): Promise<ChatRecord> {
  const made: ChatRecord = { id: chat.id };
  const chats = () => context.session().network.chats;
  try {
    const last = await lastMessagesOf(context, tools, chat.id);
    if (input.archive !== undefined) {
      await chats().setArchived(chat.id, input.archive, last);
      made.archived = input.archive;
    }
    if (input.pin !== undefined) {
      await chats().setPinned(chat.id, input.pin);
      made.pinned = input.pin;
    }
    const untilMs = muteUntil(input);
    if (untilMs !== undefined) {
      await chats().mute(chat.id, untilMs);
      made.muteUntilMs = untilMs;
    }
    if (input.mark_unread === true) {
      await chats().setRead(chat.id, false, last);
      made.markedUnread = true;
    } else if (input.mark_unread === false) {
      await markRead(context, tools, chat);
      made.unread = 0;
    }
    if (input.ephemeral !== undefined) await chats().setTimer(chat.id, CHAT_EPHEMERAL_S[input.ephemeral]);
  } catch (error) {
    await record(context, tools, made);
    throw error;
  }
  return made;
}

/** Epoch milliseconds, 0 for not muted; undefined when nothing is said about it. */
function muteUntil({ mute, mute_until: untilMs }: PatchChatInput): number | undefined {
  if (untilMs !== undefined) return untilMs;
  return mute === undefined ? undefined : mute ? FOREVER_MS : 0;
}

/** Tells the writers of what is unread, and the phone that all is read. */
async function markRead(context: CommandContext, tools: ChatTools, chat: Chat): Promise<void> {
  const { unread = 0 } = chat;
  if (unread > 0) {
    const count = Math.min(unread, MOST_RECEIPTS);
    const moments = await tools.chats.lastMoments(context.channelId, chat.id, { count, fromOthers: true });
    if (moments.length > 0) await context.session().network.messages.markRead(moments.map(keyOf));
  }
  const last = await lastMessagesOf(context, tools, chat.id);
  await context.session().network.chats.setRead(chat.id, true, last);
}

/** The network wants to know up to where a change of a chat was meant. */
async function lastMessagesOf(context: CommandContext, tools: ChatTools, chatId: string): Promise<LastMessage[]> {
  const moments = await tools.chats.lastMoments(context.channelId, chatId, { count: 1, fromOthers: false });
  return moments.map((moment) => ({ key: keyOf(moment), timestampS: moment.timestamp }));
}

function keyOf({ id, remote, participant, fromMe }: KeyedMoment) {
  return { id, remoteJid: remote, fromMe, ...(participant !== undefined && { participant }) };
}

async function record(context: CommandContext, tools: ChatTools, made: ChatRecord): Promise<void> {
  if (Object.keys(made).length === 1) return;
  const { fence } = context.session();
  const { seqs } = await tools.chats.recordChats(fence, context.channelId, [made]);
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}
