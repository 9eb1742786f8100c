import type { EventPage, PulledEvent } from '@dormouse/management-contract';
import type { RegionLink } from '../regions/regions.js';
import type { StreamContent, StreamTurn } from '../streams/channel-streams.js';
import { LATEST, readEvents } from './event-pages.js';

const PAGE = 100;

/**
 * A channel's events as server-sent events: the pages of `event-pages.ts`, pushed, in sequence. The id of each is its sequence, so a
 * browser that reconnects continues after the last event it received. While the region is away no events are sent.
 */
export class EventStream implements StreamContent {
  #cursor: string | undefined;

  constructor(
    private readonly link: RegionLink,
    private readonly channelId: string,
    /** As for `readEvents`. */
    cursor: string | undefined,
  ) {
    this.#cursor = cursor;
  }

  /** The start is fixed before the client sees the stream open, so every event from then on is sent. */
  async prepare(): Promise<void> {
    if (this.#cursor === LATEST) this.#cursor = (await this.#read())?.cursor ?? this.#cursor;
  }

  async next(): Promise<StreamTurn> {
    const page = await this.#read();
    if (page) this.#cursor = page.cursor;
    return { frames: (page?.events ?? []).map(frameOf), then: page?.more === true ? 'more' : 'wait' };
  }

  async #read(): Promise<EventPage | undefined> {
    try {
      const { links } = this.link;
      return await this.link.run((_directory, database) =>
        readEvents({ database, links }, this.channelId, { cursor: this.#cursor, count: PAGE }),
      );
    } catch {
      return undefined; // the region is away: the next poll tries again
    }
  }
}

function frameOf({ id, sequence, created_at_ms, body }: PulledEvent): string {
  return `id: ${sequence}\ndata: ${JSON.stringify({ id, sequence, created_at_ms, body })}\n\n`;
}

/** The cursor a stream starts at: a browser that reconnects sends the id of the last event it received. */
export function streamCursor(lastEventId: unknown, cursor: string | undefined): string | undefined {
  return typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId) ? lastEventId : (cursor ?? undefined);
}
