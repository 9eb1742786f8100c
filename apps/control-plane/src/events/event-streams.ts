/**
 * Channels' events as server-sent events: the pages of `event-pages.ts`, pushed.
 *
 * Guarantees: a stream sends the same events as the pages, in sequence. The id of each is its sequence, so a browser that
 * reconnects continues after the last event it received. Signals in Redis only shorten the delay: streams poll the
 * database every five seconds, and every second without Redis. While a region is away its streams stay open and send
 * no events. A stream ends within `checkMs` when its channel is deleted or its account key revoked.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '@dormouse/bootstrap';
import type { EventPage, PulledEvent } from '@dormouse/management-contract';
import type { RegionLink } from '../regions/regions.js';
import { LATEST, readEvents } from './event-pages.js';

export interface StreamSettings {
  /** Interval between two polls without signals from Redis. */
  pollMs: number;
  /** Interval between two polls while signals are received. */
  pollWhileLiveMs: number;
  /** Interval between two keep-alive comments, and between two checks that the stream is still authorized. */
  checkMs: number;
}

const DEFAULTS: StreamSettings = { pollMs: 1_000, pollWhileLiveMs: 5_000, checkMs: 15_000 };
const PAGE = 100;

interface Stream {
  readonly ended: AbortController;
  /** Ends the present wait for the next poll. */
  wake: () => void;
}

type EventSubscription = ReturnType<RegionLink['subscribeEvents']>;

export class EventStreams {
  /** By channel. */
  readonly #streams = new Map<string, Set<Stream>>();
  readonly #subscriptions = new Map<RegionLink, EventSubscription>();
  readonly #running = new Set<Promise<void>>();

  constructor(
    private readonly log: Logger,
    private readonly settings: StreamSettings = DEFAULTS,
  ) {}

  /** Number of open streams of one channel. */
  open(channelId: string): number {
    return this.#streams.get(channelId)?.size ?? 0;
  }

  /**
   * Sends events until the client disconnects or `isAuthorized` resolves to false. Takes over the response.
   * @param cursor as for `readEvents`
   */
  send(
    response: ServerResponse,
    what: { link: RegionLink; channelId: string; cursor: string | undefined; isAuthorized: () => Promise<boolean> },
  ): void {
    const stream: Stream = { ended: new AbortController(), wake: () => undefined };
    response.once('close', () => end(stream));
    this.#add(what.channelId, stream);
    const running = this.#run(response, stream, what)
      .catch((error: unknown) => this.log.warn({ err: error, channelId: what.channelId }, 'an event stream failed'))
      .finally(() => {
        this.#remove(what.channelId, stream);
        this.#running.delete(running);
        response.end();
      });
    this.#running.add(running);
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    for (const streams of this.#streams.values()) streams.forEach(end);
    await Promise.all(this.#running);
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.close()));
  }

  async #run(response: ServerResponse, stream: Stream, what: Parameters<EventStreams['send']>[1]): Promise<void> {
    const { signal } = stream.ended;
    const subscription = this.#subscriptionOf(what.link);
    let { cursor } = what;
    // The start is fixed before the client sees the stream open, so every event from then on is sent.
    if (cursor === LATEST) cursor = (await this.#read(what.link, what.channelId, cursor))?.cursor ?? cursor;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // A stream that ends at shutdown must leave no idle connection: the server would wait for it.
      connection: 'close',
    });
    response.write(': open\n\n');
    let checkedAtMs = performance.now();
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (stream.wake = resolve));
      const page = await this.#read(what.link, what.channelId, cursor);
      if (page) cursor = page.cursor;
      for (const event of page?.events ?? []) if (!signal.aborted) await write(response, frameOf(event), signal);
      if (page?.more === true) continue;
      const pollMs = subscription.isLive() ? this.settings.pollWhileLiveMs : this.settings.pollMs;
      const poll = setTimeout(() => stream.wake(), pollMs);
      if (!signal.aborted) await woken;
      clearTimeout(poll);
      if (performance.now() - checkedAtMs < this.settings.checkMs) continue;
      checkedAtMs = performance.now();
      await write(response, ': alive\n\n', signal);
      if (!(await what.isAuthorized().catch(() => true))) return;
    }
  }

  async #read(link: RegionLink, channelId: string, cursor: string | undefined): Promise<EventPage | undefined> {
    try {
      const { links } = link;
      return await link.run((_directory, database) =>
        readEvents({ database, links }, channelId, { cursor, count: PAGE }),
      );
    } catch {
      return undefined; // the region is away: the next poll tries again
    }
  }

  #subscriptionOf(link: RegionLink): EventSubscription {
    const known = this.#subscriptions.get(link);
    if (known) return known;
    const wakeStreams = (channelId: string) => this.#streams.get(channelId)?.forEach((stream) => stream.wake());
    const subscription = link.subscribeEvents(wakeStreams);
    this.#subscriptions.set(link, subscription);
    return subscription;
  }

  #add(channelId: string, stream: Stream): void {
    this.#streams.set(channelId, (this.#streams.get(channelId) ?? new Set()).add(stream));
  }

  #remove(channelId: string, stream: Stream): void {
    const streams = this.#streams.get(channelId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(channelId);
  }
}

function end({ ended, wake }: Stream): void {
  ended.abort();
  wake();
}

function frameOf({ id, sequence, created_at_ms, body }: PulledEvent): string {
  return `id: ${sequence}\ndata: ${JSON.stringify({ id, sequence, created_at_ms, body })}\n\n`;
}

/** Writes to the response, and waits while the client reads more slowly than events arrive. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => undefined);
}

/** The cursor a stream starts at: a browser that reconnects sends the id of the last event it received. */
export function streamCursor(lastEventId: unknown, cursor: string | undefined): string | undefined {
  return typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId) ? lastEventId : (cursor ?? undefined);
}
