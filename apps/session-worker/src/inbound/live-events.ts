/**
 * Calls and presences: told, not stored.
 *
 * What it guarantees: the states of a call are told in the order they were heard, each once per socket; presences of
 * chats that the channel ignores are not told. What is heard while PostgreSQL is away is tried for a while, as messages
 * are. The network repeats neither, so a crash between hearing and writing loses one.
 */
import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import type { EventWriter } from '@dormouse/message-store/write';
import { callFromNetwork } from '../convert/call.js';
import { presencesFromNetwork } from '../convert/presence.js';
import type { NetworkEvents } from '../socket/network-events.js';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import { ChannelEar, type Patience } from './channel-ear.js';
import { peopleIn } from './people-in.js';

export interface LiveEventsOptions extends Patience {
  readonly events: EventWriter;
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  /** Tells the dispatcher that there is something to tell. */
  readonly eventsReady: (channelId: string) => void;
}

/** Calls whose states one socket remembers, so that it tells each once. */
const REMEMBERED_CALLS = 200;

export class LiveEvents implements SessionListener {
  constructor(private readonly options: LiveEventsOptions) {}

  attach(session: OpenSession): Attachment {
    const ear = new ChannelEar(session, this.options);
    const told = new Set<string>();
    const tell = (events: readonly ChannelEvent[]): Promise<void> => this.tell(session, ear, events);
    session.network.events.onGathered(({ calls, presence }) => {
      if (calls) ear.hear(async () => tell(await this.calls(session, ear, calls, told)));
      if (presence) ear.hear(async () => tell(await this.presences(session, ear, presence)));
    });
    return { drained: () => ear.drained() };
  }

  private async calls(
    session: OpenSession,
    ear: ChannelEar,
    calls: NetworkEvents['calls'],
    told: Set<string>,
  ): Promise<ChannelEvent[]> {
    const people = await ear.store(() => peopleIn(session, calls));
    const events: ChannelEvent[] = [];
    for (const heard of calls) {
      const call = callFromNetwork(heard, people, told.has(`${heard.id} answered`));
      if (!call || told.has(`${call.id} ${call.status}`)) continue;
      told.add(`${call.id} ${call.status}`);
      const [oldest] = told;
      if (told.size > REMEMBERED_CALLS && oldest !== undefined) told.delete(oldest);
      events.push({ type: 'calls', method: 'post', payload: { calls: [call] } });
    }
    return events;
  }

  private async presences(
    session: OpenSession,
    ear: ChannelEar,
    update: NetworkEvents['presence'],
  ): Promise<ChannelEvent[]> {
    const { directory } = this.options;
    const channel = await ear.store(() => directory.byId(session.channelId));
    const people = await ear.store(() => peopleIn(session, Object.keys(update.presences).concat(update.id)));
    const told = presencesFromNetwork(update, people, channel?.settings.ignored_presences ?? []);
    return told.map((presence) => ({ type: 'presences', method: 'post', payload: { presences: [presence] } }));
  }

  private async tell(session: OpenSession, ear: ChannelEar, events: readonly ChannelEvent[]): Promise<void> {
    if (events.length === 0) return;
    await ear.store(() => this.options.events.append(session.fence, session.channelId, events));
    this.options.eventsReady(session.channelId);
  }
}
