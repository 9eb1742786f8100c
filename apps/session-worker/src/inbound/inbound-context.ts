import type { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { NetworkMessage } from '../socket/network-events.js';
import type { ChatTimers } from '../socket/chat-timers.js';
import type { OpenSession } from '../socket/open-session.js';
import type { AutoDownload } from './auto-download.js';
import type { ChannelWriteQueue } from './channel-write-queue.js';
import type { WaitingChats } from './waiting-chats.js';

/** What a step that stores something received works with. */
export interface InboundContext {
  readonly session: OpenSession;
  readonly queue: ChannelWriteQueue;
  readonly writer: MessageWriter;
  readonly chats: ChatWriter;
  /**
   * The phone has given a new device its first state. Before that, chats and contacts are no news: they are stored without
   * events.
   */
  readonly settled: boolean;
  /** What the channel does by itself. */
  readonly autoBehaviours: { received(inbound: InboundContext, messages: readonly NetworkMessage[]): Promise<void> };
  readonly groups: GroupWriter;
  /** How long messages of chats stay. */
  readonly timers: Pick<ChatTimers, 'learn'>;
  readonly pictures: Pick<PictureWriter, 'recordQueried'>;
  /** Whether the channel wants `messages` events of group notices. Off by default: bots answer them in the group. */
  readonly wantsGroupNotices: (channelId: string) => Promise<boolean>;
  /** Queues a query about a group whose changes could not be applied. */
  readonly queryGroup: (session: OpenSession, groupId: string) => void;
  /** Fetches the files that the channel wants. */
  readonly downloads?: Pick<AutoDownload, 'begin'> | undefined;
  /** What waits for its file. */
  readonly waiting: WaitingChats;
  /** Notifies the dispatcher of new events; it finds them by polling when this is lost. */
  readonly eventsReady: (channelId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Stores with patience, and wakes the dispatcher when events were made. */
export async function storeAndNotify(
  { queue, session, eventsReady }: InboundContext,
  write: () => Promise<{ seqs: number[] }>,
): Promise<void> {
  const { seqs } = await queue.store(write);
  if (seqs.length > 0) eventsReady(session.channelId);
}

/** Converts each item by itself: one that cannot be read is reported and costs no other. */
export function convertEach<Item, Result>(
  { session }: Pick<InboundContext, 'session'>,
  items: readonly Item[],
  convert: (item: Item) => Result | undefined,
): Result[] {
  return items.flatMap((item) => {
    try {
      return convert(item) ?? [];
    } catch (error) {
      session.reportFault(error);
      return [];
    }
  });
}
