import type { TracedStanza } from './api.js';

/** How many stanzas are held, the newest. */
const MOST = 1000;
/** A phone may decrypt the message in a stanza some time after the stanza passed: until then it is read again. */
const SETTLED_AFTER_MS = 2000;

/** Requests stanzas, the oldest first: the newest `limit` of those whose `seq` is greater than `after`. */
type ReadTrace = (query: { limit: number; after?: number }) => Promise<TracedStanza[]>;

/** The last stanzas that fit a filter. Each reading requests only what is new or may have changed. */
export class TraceFeed {
  private known: readonly TracedStanza[] = [];

  constructor(private readonly request: ReadTrace) {}

  /** All stanzas that are held, the oldest first. Those that did not change are the same objects as before. */
  async read(): Promise<readonly TracedStanza[]> {
    this.known = (await this.continued()) ?? (await this.request({ limit: MOST }));
    return this.known;
  }

  /**
   * What was known with what came since; `undefined` when one does not follow the other: nothing is known, too much
   * came, or the network was reset or started again.
   */
  private async continued(): Promise<readonly TracedStanza[] | undefined> {
    const settledUntil = Date.parse(this.known.at(-1)?.at ?? '') - SETTLED_AFTER_MS;
    const at = this.known.findIndex((entry) => Date.parse(entry.at) >= settledUntil);
    const from = this.known[at];
    if (!from) return undefined;
    const later = await this.request({ limit: 2 * MOST, after: from.seq - 1 });
    if (later[0]?.seq !== from.seq || later[0].at !== from.at) return undefined;
    return [...this.known.slice(0, at), ...later].slice(-MOST);
  }
}
