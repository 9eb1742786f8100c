/**
 * Receives the network's events and stores them. Subscribes once to each socket generation; see `channel-write-queue.ts` for
 * what is guaranteed about order and failures.
 */
import type { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { GatheredEvents, NetworkEvents } from '../socket/network-events.js';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import type { AutoDownload } from './auto-download.js';
import type { AutoBehaviours } from './auto-behaviours.js';
import { ChannelWriteQueue, type Patience } from './channel-write-queue.js';
import { handleChats, handleDeletedChats, handleNewDevice } from './chats.js';
import { handleContacts, handleLidNumber } from './contacts.js';
import { handleGroupNotices, handleGroupTimers, handleJoinRequest, handleMembers, handleNewGroups } from './groups.js';
import type { InboundContext } from './inbound-context.js';
import { handleHistory } from './history.js';
import { handleMessages, handleRemovals } from './messages.js';
import { handleGroupReceipts, handleMessageUpdates } from './receipts.js';
import { WaitingChats } from './waiting-chats.js';

export interface InboundOptions extends Patience {
  readonly writer: MessageWriter;
  readonly chats: ChatWriter;
  readonly autoBehaviours: Pick<AutoBehaviours, 'attach' | 'received'>;
  readonly groups: GroupWriter;
  readonly timers: InboundContext['timers'];
  readonly pictures: Pick<PictureWriter, 'recordQueried'>;
  readonly wantsGroupNotices: (channelId: string) => Promise<boolean>;
  /** Queries the network about a group whose changes could not be followed. */
  readonly queryGroup: (session: OpenSession, groupId: string) => void;
  /** Brings the files that the channel wants; absent: none. */
  readonly downloads?: Pick<AutoDownload, 'begin'>;
  /** Notifies the dispatcher of new events; it finds them by polling when this is lost. */
  readonly eventsReady: (channelId: string) => void;
}

type Step = (inbound: InboundContext, received: GatheredEvents) => (() => Promise<void>) | undefined;

/** What takes messages away or renames their chat: it must not be overtaken by messages that still wait for a file. */
const AFTER_ALL_THAT_WAITS = new Set<keyof NetworkEvents>(['lidNumber', 'chatsDeleted', 'messagesDeleted']);

function on<Name extends keyof NetworkEvents>(
  name: Name,
  listen: (inbound: InboundContext, what: NetworkEvents[Name]) => Promise<void>,
): Step {
  return (inbound, received) => {
    const what: NetworkEvents[Name] | undefined = received[name];
    if (what === undefined) return undefined;
    if (!AFTER_ALL_THAT_WAITS.has(name)) return () => listen(inbound, what);
    return async () => {
      await inbound.waiting.flush();
      await listen(inbound, what);
    };
  };
}

/** Events of the network, in the order in which those that come together are stored: names before messages. */
const STEPS: readonly Step[] = [
  on('connection', handleNewDevice),
  on('history', handleHistory),
  on('lidNumber', handleLidNumber),
  on('contactsAdded', handleContacts),
  on('contactsChanged', handleContacts),
  on('groupsAdded', handleNewGroups),
  on('groupMembers', handleMembers),
  on('joinRequest', handleJoinRequest),
  on('chatsAdded', handleChats),
  on('chatsDeleted', handleDeletedChats),
  on('messages', handleGroupNotices),
  on('messages', handleMessages),
  on('messagesChanged', handleMessageUpdates),
  on('messagesDeleted', handleRemovals),
  on('groupReceipts', handleGroupReceipts),
  on('chatsChanged', handleChats),
  on('chatsChanged', handleGroupTimers),
];

export class Inbound implements SessionListener {
  /** The last socket's queue of each channel, and what waits there: the next one waits for both. */
  private readonly queues = new Map<string, { queue: ChannelWriteQueue; waiting: WaitingChats }>();

  constructor(private readonly options: InboundOptions) {}

  attach(session: OpenSession): Attachment {
    const { channelId } = session;
    const { writer, chats, autoBehaviours, groups, pictures, wantsGroupNotices } = this.options;
    const { timers, queryGroup, downloads, eventsReady, now } = this.options;
    const earlier = this.queues.get(channelId);
    const queue = new ChannelWriteQueue(session, this.options, earlier && drained(earlier));
    const waiting = new WaitingChats(queue);
    this.queues.set(channelId, { queue, waiting });
    // What an owner before could not bring to its end.
    queue.enqueue(() => queue.store(() => chats.finishRemovals(session.fence, channelId)));
    const { network } = session;
    autoBehaviours.attach(session);
    network.events.onGathered((received) => {
      const settled = network.isSetUp;
      const inbound: InboundContext = {
        session,
        queue,
        writer,
        chats,
        autoBehaviours,
        groups,
        pictures,
        timers,
        wantsGroupNotices,
        settled,
        queryGroup,
        downloads,
        waiting,
        eventsReady,
        now,
      };
      for (const step of STEPS) {
        const work = step(inbound, received);
        if (work) queue.enqueue(work);
      }
    });
    return { drained: () => this.drained(channelId, { queue, waiting }), stored: () => queue.stored() };
  }

  private async drained(channelId: string, last: { queue: ChannelWriteQueue; waiting: WaitingChats }): Promise<void> {
    await drained(last);
    if (this.queues.get(channelId)?.queue === last.queue) this.queues.delete(channelId);
  }
}

/** Resolves when everything received is stored, without waiting for files any longer. */
function drained({ queue, waiting }: { queue: ChannelWriteQueue; waiting: WaitingChats }): Promise<void> {
  queue.enqueue(() => waiting.flush());
  return queue.drained();
}
