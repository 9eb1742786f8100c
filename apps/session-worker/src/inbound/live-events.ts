/**
 * Calls and presences: events that are notified, not stored.
 *
 * What it guarantees: the states of a call are notified in the order in which they were received, each once per socket; presences
 * of chats that the channel ignores are not. Events received while PostgreSQL is away are tried for a while, as messages
 * are. The network repeats neither, so a crash between receiving and writing loses one.
 */
import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import type { EventWriter } from '@dormouse/message-store/write';
import { callFromNetwork } from '../convert/call.js';
import { presencesFromNetwork } from '../convert/presence.js';
import type { NetworkEvents } from '../socket/network-events.js';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import { ChannelWriteQueue, type Patience } from './channel-write-queue.js';
import { resolveLids } from './resolve-lids.js';

export interface LiveEventsOptions extends Patience {
  readonly events: EventWriter;
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  /** Notifies the dispatcher of new events. */
  readonly eventsReady: (channelId: string) => void;
}

/** Calls whose states one socket remembers, so that each is notified once. */
const REMEMBERED_CALLS = 200;

export class LiveEvents implements SessionListener {
  constructor(private readonly options: LiveEventsOptions) {}

  attach(session: OpenSession): Attachment {
    const queue = new ChannelWriteQueue(session, this.options);
    const notified = new Set<string>();
    const notify = (events: readonly ChannelEvent[]): Promise<void> => this.notify(session, queue, events);
    session.network.events.onGathered(({ calls, presence }) => {
      if (calls) queue.enqueue(async () => notify(await this.calls(session, queue, calls, notified)));
      if (presence) queue.enqueue(async () => notify(await this.presences(session, queue, presence)));
    });
    return { drained: () => queue.drained() };
  }

  private async calls(
    session: OpenSession,
    queue: ChannelWriteQueue,
    calls: NetworkEvents['calls'],
    notified: Set<string>,
  ): Promise<ChannelEvent[]> {
    const people = await queue.store(() => resolveLids(session, calls));
    const events: ChannelEvent[] = [];
    for (const received of calls) {
      const call = callFromNetwork(received, people, notified.has(`${received.id} answered`));
      if (!call || notified.has(`${call.id} ${call.status}`)) continue;
      notified.add(`${call.id} ${call.status}`);
      const [oldest] = notified;
      if (notified.size > REMEMBERED_CALLS && oldest !== undefined) notified.delete(oldest);
      events.push({ type: 'calls', method: 'post', payload: { calls: [call] } });
    }
    return events;
  }

  private async presences(
    session: OpenSession,
    queue: ChannelWriteQueue,
    update: NetworkEvents['presence'],
  ): Promise<ChannelEvent[]> {
    const { directory } = this.options;
    const channel = await queue.store(() => directory.byId(session.channelId));
    const people = await queue.store(() => resolveLids(session, Object.keys(update.presences).concat(update.id)));
    const notified = presencesFromNetwork(update, people, channel?.settings.ignored_presences ?? []);
    return notified.map((presence) => ({ type: 'presences', method: 'post', payload: { presences: [presence] } }));
  }

  private async notify(session: OpenSession, queue: ChannelWriteQueue, events: readonly ChannelEvent[]): Promise<void> {
    if (events.length === 0) return;
    await queue.store(() => this.options.events.append(session.fence, session.channelId, events));
    this.options.eventsReady(session.channelId);
  }
}
