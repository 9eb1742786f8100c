/**
 * Channels' events as server-sent events: the pages of `event-pages.ts`, pushed.
 *
 * Guarantees: what a page would hold is sent, in sequence; the id of each is its sequence, so a browser that connects
 * again goes on where it was. Redis only shortens the wait: without it streams look once a second, and every five
 * seconds otherwise. A region that is away leaves streams open and silent until it is back. A stream ends when its
 * channel is deleted or its account key revoked, within `checkMs`.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '@dormouse/bootstrap';
import type { EventPage, PulledEvent } from '@dormouse/management-contract';
import type { RegionLink } from '../regions/regions.js';
import { LATEST, readEvents } from './event-pages.js';

export interface StreamSettings {
  pollMs: number;
  pollWhileLiveMs: number;
  /** How often a silent stream says that it is alive and is asked whether it still may. */
  checkMs: number;
}

const DEFAULTS: StreamSettings = { pollMs: 1_000, pollWhileLiveMs: 5_000, checkMs: 15_000 };
const PAGE = 100;

interface Stream {
  readonly ended: AbortController;
  /** Ends the present wait. */
  wake: () => void;
}

type Ear = ReturnType<RegionLink['hearEvents']>;

export class EventStreams {
  /** By channel. */
  readonly #streams = new Map<string, Set<Stream>>();
  readonly #ears = new Map<RegionLink, Ear>();
  readonly #running = new Set<Promise<void>>();

  constructor(
    private readonly log: Logger,
    private readonly settings: StreamSettings = DEFAULTS,
  ) {}

  /** Streams of one channel that are open. */
  open(channelId: string): number {
    return this.#streams.get(channelId)?.size ?? 0;
  }

  /**
   * Sends events until the receiver leaves or `mayGoOn` says no. Takes the response over.
   * @param cursor as for `readEvents`
   */
  send(
    response: ServerResponse,
    what: { link: RegionLink; channelId: string; cursor: string | undefined; mayGoOn: () => Promise<boolean> },
  ): void {
    const stream: Stream = { ended: new AbortController(), wake: () => undefined };
    response.once('close', () => end(stream));
    this.#add(what.channelId, stream);
    const running = this.#run(response, stream, what)
      .catch((error: unknown) => this.log.warn({ err: error, channelId: what.channelId }, 'an event stream broke off'))
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
    await Promise.all([...this.#ears.values()].map((ear) => ear.close()));
  }

  async #run(response: ServerResponse, stream: Stream, what: Parameters<EventStreams['send']>[1]): Promise<void> {
    const { signal } = stream.ended;
    const ear = this.#earOf(what.link);
    let { cursor } = what;
    // Fixed before the stream is open: what happens from then on is on it.
    if (cursor === LATEST) cursor = (await this.#read(what.link, what.channelId, cursor))?.cursor ?? cursor;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // So that a stream that we end at a stop leaves no connection that the stop would wait for.
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
      const pollMs = ear.isLive() ? this.settings.pollWhileLiveMs : this.settings.pollMs;
      const look = setTimeout(() => stream.wake(), pollMs);
      if (!signal.aborted) await woken;
      clearTimeout(look);
      if (performance.now() - checkedAtMs < this.settings.checkMs) continue;
      checkedAtMs = performance.now();
      await write(response, ': alive\n\n', signal);
      if (!(await what.mayGoOn().catch(() => true))) return;
    }
  }

  async #read(link: RegionLink, channelId: string, cursor: string | undefined): Promise<EventPage | undefined> {
    try {
      const { links } = link;
      return await link.ask((_directory, database) =>
        readEvents({ database, links }, channelId, { cursor, count: PAGE }),
      );
    } catch {
      return undefined; // the region is away: look again later
    }
  }

  #earOf(link: RegionLink): Ear {
    const known = this.#ears.get(link);
    if (known) return known;
    const ear = link.hearEvents((channelId) => this.#streams.get(channelId)?.forEach((stream) => stream.wake()));
    this.#ears.set(link, ear);
    return ear;
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

/** Waits for a receiver that is slower than we are. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => undefined);
}

/** Where a stream begins: a browser that connects again names the last event it saw. */
export function streamCursor(lastEventId: unknown, cursor: string | undefined): string | undefined {
  return typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId) ? lastEventId : (cursor ?? undefined);
}
