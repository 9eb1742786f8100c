import type { Account } from './account.js';
import { Refusal } from './refusal.js';

const MINUTE_MS = 60_000;

/** How much the network bears before it refuses. */
export class Limits {
  /** Questions about groups per account and minute; 0: any number. */
  groupQuestionsPerMinute = 0;
  /** Changes of shared state in one answer; more are asked for again. */
  patchesPerAnswer = 100;
  /** A client that starts anew gets a snapshot file instead of more changes than this; 0: always the changes. */
  snapshotAfterPatches = 0;
  private readonly asked = new Map<string, { count: number; fromMs: number }>();

  constructor(private readonly now: () => number) {}

  shown(): Record<string, number> {
    const { groupQuestionsPerMinute, patchesPerAnswer, snapshotAfterPatches } = this;
    return { groupQuestionsPerMinute, patchesPerAnswer, snapshotAfterPatches };
  }

  /** Counts a question about groups. Throws {@link Refusal} 429 when there were too many. */
  groupQuestion(account: Account): void {
    if (this.groupQuestionsPerMinute === 0) return;
    const window = this.asked.get(account.lid);
    if (!window || this.now() - window.fromMs >= MINUTE_MS) {
      this.asked.set(account.lid, { count: 1, fromMs: this.now() });
      return;
    }
    if (++window.count > this.groupQuestionsPerMinute) throw new Refusal(429, 'rate-overlimit');
  }
}
