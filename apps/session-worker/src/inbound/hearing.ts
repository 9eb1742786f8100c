import type { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { NetworkMessage } from '../socket/network-events.js';
import type { ChatTimers } from '../socket/chat-timers.js';
import type { OpenSession } from '../socket/open-session.js';
import type { AutoDownload } from './auto-download.js';
import type { ChannelEar } from './channel-ear.js';
import type { WaitingChats } from './waiting-chats.js';

/** What those who store something heard have at hand. */
export interface Hearing {
  readonly session: OpenSession;
  readonly ear: ChannelEar;
  readonly writer: MessageWriter;
  readonly chats: ChatWriter;
  /**
   * The phone has told a new device what there is. Before that, chats and contacts are no news: they are stored, not
   * told.
   */
  readonly settled: boolean;
  /** What the channel does by itself. */
  readonly automatic: { heard(hearing: Hearing, messages: readonly NetworkMessage[]): Promise<void> };
  readonly groups: GroupWriter;
  /** How long messages of chats stay. */
  readonly timers: Pick<ChatTimers, 'learn'>;
  readonly pictures: Pick<PictureWriter, 'recordAsked'>;
  /** Does the channel want `messages` events of group notices? Off by default: bots answer them in the group. */
  readonly wantsGroupNotices: (channelId: string) => Promise<boolean>;
  /** The network is to be asked about a group that could not be followed. */
  readonly askGroup: (session: OpenSession, groupId: string) => void;
  /** Brings the files that the channel wants. */
  readonly downloads?: Pick<AutoDownload, 'begin'> | undefined;
  /** What waits for its file. */
  readonly waiting: WaitingChats;
  /** Tells the dispatcher that there is something to tell; losing it is harmless. */
  readonly eventsReady: (channelId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Stores with patience, and wakes the dispatcher when events were made. */
export async function storeAndTell(
  { ear, session, eventsReady }: Hearing,
  write: () => Promise<{ seqs: number[] }>,
): Promise<void> {
  const { seqs } = await ear.store(write);
  if (seqs.length > 0) eventsReady(session.channelId);
}

/** Converts each item by itself: one that cannot be read is reported and costs no other. */
export function convertEach<Item, Result>(
  { session }: Pick<Hearing, 'session'>,
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
