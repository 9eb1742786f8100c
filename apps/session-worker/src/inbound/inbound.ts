/**
 * Hears what happens on the network and stores it. Subscribes once to each socket generation; see `channel-ear.ts` for
 * what is guaranteed about order and failures.
 */
import type { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { GatheredEvents, NetworkEvents } from '../socket/network-events.js';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import type { AutoDownload } from './auto-download.js';
import type { Automatic } from './automatic.js';
import { ChannelEar, type Patience } from './channel-ear.js';
import { hearChats, hearChatsGone, hearNewDevice } from './chats.js';
import { hearContacts, hearLidNumber } from './contacts.js';
import { hearGroupNotices, hearGroupTimers, hearJoinRequest, hearMembers, hearNewGroups } from './groups.js';
import type { Hearing } from './hearing.js';
import { hearHistory } from './history.js';
import { hearMessages, hearRemovals } from './messages.js';
import { hearGroupReceipts, hearUpdates } from './receipts.js';
import { WaitingChats } from './waiting-chats.js';

export interface InboundOptions extends Patience {
  readonly writer: MessageWriter;
  readonly chats: ChatWriter;
  readonly automatic: Pick<Automatic, 'attach' | 'heard'>;
  readonly groups: GroupWriter;
  readonly timers: Hearing['timers'];
  readonly pictures: Pick<PictureWriter, 'recordAsked'>;
  readonly wantsGroupNotices: (channelId: string) => Promise<boolean>;
  /** The network is to be asked about a group that could not be followed. */
  readonly askGroup: (session: OpenSession, groupId: string) => void;
  /** Brings the files that the channel wants; absent: none. */
  readonly downloads?: Pick<AutoDownload, 'begin'>;
  /** Tells the dispatcher that there is something to tell; losing it is harmless. */
  readonly eventsReady: (channelId: string) => void;
}

type Step = (hearing: Hearing, received: GatheredEvents) => (() => Promise<void>) | undefined;

/** What takes messages away or renames their chat: it must not be overtaken by messages that still wait for a file. */
const AFTER_ALL_THAT_WAITS = new Set<keyof NetworkEvents>(['lidNumber', 'chatsDeleted', 'messagesDeleted']);

function on<Name extends keyof NetworkEvents>(
  name: Name,
  listen: (hearing: Hearing, what: NetworkEvents[Name]) => Promise<void>,
): Step {
  return (hearing, received) => {
    const what: NetworkEvents[Name] | undefined = received[name];
    if (what === undefined) return undefined;
    if (!AFTER_ALL_THAT_WAITS.has(name)) return () => listen(hearing, what);
    return async () => {
      await hearing.waiting.flush();
      await listen(hearing, what);
    };
  };
}

/** What is listened to, in the order in which events that come together are stored: names before what is said. */
const STEPS: readonly Step[] = [
  on('connection', hearNewDevice),
  on('history', hearHistory),
  on('lidNumber', hearLidNumber),
  on('contactsAdded', hearContacts),
  on('contactsChanged', hearContacts),
  on('groupsAdded', hearNewGroups),
  on('groupMembers', hearMembers),
  on('joinRequest', hearJoinRequest),
  on('chatsAdded', hearChats),
  on('chatsDeleted', hearChatsGone),
  on('messages', hearGroupNotices),
  on('messages', hearMessages),
  on('messagesChanged', hearUpdates),
  on('messagesDeleted', hearRemovals),
  on('groupReceipts', hearGroupReceipts),
  on('chatsChanged', hearChats),
  on('chatsChanged', hearGroupTimers),
];

export class Inbound implements SessionListener {
  /** The last socket's ear of each channel, and what waits there: the next one waits for both. */
  private readonly ears = new Map<string, { ear: ChannelEar; waiting: WaitingChats }>();

  constructor(private readonly options: InboundOptions) {}

  attach(session: OpenSession): Attachment {
    const { channelId } = session;
    const { writer, chats, automatic, groups, pictures, wantsGroupNotices } = this.options;
    const { timers, askGroup, downloads, eventsReady, now } = this.options;
    const earlier = this.ears.get(channelId);
    const ear = new ChannelEar(session, this.options, earlier && drained(earlier));
    const waiting = new WaitingChats(ear);
    this.ears.set(channelId, { ear, waiting });
    // What an owner before could not bring to its end.
    ear.hear(() => ear.store(() => chats.finishRemovals(session.fence, channelId)));
    const { network } = session;
    automatic.attach(session);
    network.events.onGathered((received) => {
      const settled = network.isSetUp;
      const hearing: Hearing = {
        session,
        ear,
        writer,
        chats,
        automatic,
        groups,
        pictures,
        timers,
        wantsGroupNotices,
        settled,
        askGroup,
        downloads,
        waiting,
        eventsReady,
        now,
      };
      for (const step of STEPS) {
        const work = step(hearing, received);
        if (work) ear.hear(work);
      }
    });
    return { drained: () => this.drained(channelId, { ear, waiting }), stored: () => ear.stored() };
  }

  private async drained(channelId: string, last: { ear: ChannelEar; waiting: WaitingChats }): Promise<void> {
    await drained(last);
    if (this.ears.get(channelId)?.ear === last.ear) this.ears.delete(channelId);
  }
}

/** Resolves when all that was heard is stored, without waiting for files any longer. */
function drained({ ear, waiting }: { ear: ChannelEar; waiting: WaitingChats }): Promise<void> {
  ear.hear(() => waiting.flush());
  return ear.drained();
}
