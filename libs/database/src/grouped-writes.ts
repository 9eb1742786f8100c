/**
 * Writes that would wait for each other are written together: one transaction for many channels.
 *
 * Why: on a busy worker most of the time of a small transaction is not its rows but its round trip, its plan and its
 * commit. With nothing to wait for a write is a statement of its own and waits for nothing; the more arrive while others
 * are under way, the more go together into the next one.
 *
 * What it guarantees: a promise resolves once its write is durable; writes of one channel happen one after the other, in
 * the order they were given; a write that the server refuses, or a channel that somebody else has locked, costs no other
 * channel more than a statement: it is written alone then. What is under way for long gives its place up, so that whatever
 * hangs holds up no channel but its own.
 *
 * It is no `Coalescer`: that one joins what waits for the same key, while here different channels share a write and two of one
 * channel never do, each channel is free again at its own outcome, and a group that hangs does not hold up the next.
 */
import pg from 'pg';

/** What became of one of the writes that were tried together. 'left': nothing of it was touched, it is to be written alone. */
export type Outcome<Result> = { readonly done: Result } | { readonly failed: Error } | 'left';

export interface WritingWays<Item, Result> {
  /** Writes one, in a transaction of its own. */
  alone(item: Item): Promise<Result>;
  /** Writes those of different channels in one transaction, which must not wait for a channel's lock; outcomes in order. */
  together(items: readonly Item[]): Promise<Outcome<Result>[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** With more, each would take fewer along: measured, one costs PostgreSQL half of what two do. */
const AT_ONCE = 1;
const MOST_TOGETHER = 64;
const LONG_MS = 100;

export class GroupedWrites<Item extends { readonly channelId: string }, Result> {
  private line: Waiting<Item, Result>[] = [];
  /** Channels with a write under way. */
  private readonly busy = new Set<string>();
  private underWay = 0;

  constructor(private readonly ways: WritingWays<Item, Result>) {}

  /** Resolves when it is durable. */
  write(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.line.push({ item, resolve, reject });
      this.begin();
    });
  }

  private begin(): void {
    while (this.underWay < AT_ONCE) {
      const group = this.nextGroup();
      if (group.length === 0) return;
      void this.run(group);
    }
  }

  /** Takes the first write of each channel that none is under way of. */
  private nextGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    this.line = this.line.filter((waiting) => {
      const { channelId } = waiting.item;
      if (group.length === MOST_TOGETHER || this.busy.has(channelId)) return true;
      this.busy.add(channelId);
      group.push(waiting);
      return false;
    });
    return group;
  }

  private async run(group: readonly Waiting<Item, Result>[]): Promise<void> {
    this.underWay += 1;
    let inPlace = true;
    const giveUpPlace = (): void => {
      if (!inPlace) return;
      inPlace = false;
      this.underWay -= 1;
      this.begin();
    };
    const timer = setTimeout(giveUpPlace, LONG_MS);
    const [first, ...others] = group;
    if (first && others.length === 0) await this.writeAlone(first);
    else await this.writeTogether(group);
    clearTimeout(timer);
    giveUpPlace();
  }

  private async writeAlone(waiting: Waiting<Item, Result>): Promise<void> {
    try {
      this.end(waiting, { done: await this.ways.alone(waiting.item) });
    } catch (error) {
      this.end(waiting, { failed: error });
    }
  }

  private async writeTogether(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await this.ways.together(group.map(({ item }) => item));
      const left = group.filter((waiting, index) => {
        const outcome = outcomes[index] ?? 'left';
        if (outcome !== 'left') this.end(waiting, outcome);
        return outcome === 'left';
      });
      await Promise.all(left.map((waiting) => this.writeAlone(waiting)));
    } catch (error) {
      // What the server refuses is not written for certain, and may be the fault of one. Everything else may be written.
      if (error instanceof pg.DatabaseError) await Promise.all(group.map((waiting) => this.writeAlone(waiting)));
      else for (const waiting of group) this.end(waiting, { failed: error });
    }
  }

  private end(waiting: Waiting<Item, Result>, outcome: { done: Result } | { failed: unknown }): void {
    this.busy.delete(waiting.item.channelId);
    if ('done' in outcome) waiting.resolve(outcome.done);
    else waiting.reject(outcome.failed);
    this.begin();
  }
}
