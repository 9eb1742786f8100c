import type { Account } from './account.js';
import { Refusal } from './refusal.js';

const MINUTE_MS = 60_000;

/** Limits above which the network refuses. */
export class Limits {
  /** Queries about groups per account and minute; 0: any number. */
  groupQueriesPerMinute = 0;
  /** Changes of shared state in one answer; the client requests the rest. */
  patchesPerAnswer = 100;
  /** A client that starts anew gets a snapshot file instead of more changes than this; 0: always the changes. */
  snapshotAfterPatches = 0;
  private readonly windows = new Map<string, { count: number; fromMs: number }>();

  constructor(private readonly now: () => number) {}

  values(): Record<string, number> {
    const { groupQueriesPerMinute, patchesPerAnswer, snapshotAfterPatches } = this;
    return { groupQueriesPerMinute, patchesPerAnswer, snapshotAfterPatches };
  }

  /** Back to the limits of a new network. */
  clear(): void {
    this.groupQueriesPerMinute = 0;
    this.patchesPerAnswer = 100;
    this.snapshotAfterPatches = 0;
    this.windows.clear();
  }

  /** Counts a query about groups. Throws {@link Refusal} 429 when there were too many. */
  countGroupQuery(account: Account): void {
    if (this.groupQueriesPerMinute === 0) return;
    const window = this.windows.get(account.lid);
    if (!window || this.now() - window.fromMs >= MINUTE_MS) {
      this.windows.set(account.lid, { count: 1, fromMs: this.now() });
      return;
    }
    if (++window.count > this.groupQueriesPerMinute) throw new Refusal(429, 'rate-overlimit');
  }
}
