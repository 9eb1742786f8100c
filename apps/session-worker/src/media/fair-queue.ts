/**
 * A few slots shared by many owners. Every owner has a share of them, and slots that become free go round: however much one
 * owner asks for, another waits for two pieces of its work at most. A slot that nobody else needs is lent to work that can
 * be done again from its start; once another owner waits for its share, such work is stopped and has its turn later.
 */
export interface FairQueueOptions {
  /** Pieces of work at a time. */
  readonly slots: number;
  /** And of one owner, while others need the rest. */
  readonly slotsPerOwner: number;
}

/** A piece of work, waiting or under way. */
interface Turn {
  readonly owner: string;
  /** Stops the work when its slot is needed; absent for work that cannot be done again. */
  readonly stop: AbortController | undefined;
  /** Beyond the owner's share. */
  isLent: boolean;
  start(): void;
}

/** Pieces of work that wait. */
type Line = readonly [Turn, ...Turn[]];

export class FairQueue {
  /** Owners that wait, the one whose turn is next first. */
  private readonly waiting = new Map<string, Line>();
  /** Work under way, the oldest first. */
  private readonly running = new Set<Turn>();

  constructor(private readonly options: FairQueueOptions) {}

  /**
   * Does `work` in its turn.
   * @param work given a signal that is aborted when its caller gives up, or its slot is needed
   * @param options.canRestart the work may be stopped and done again from its start
   * @throws the signal's reason when it is aborted before the work began
   */
  async run<T>(
    owner: string,
    work: (signal: AbortSignal | undefined) => Promise<T>,
    signal?: AbortSignal,
    { canRestart = false }: { canRestart?: boolean } = {},
  ): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      const stop = canRestart ? new AbortController() : undefined;
      const turn = await this.turn({ owner, stop, isFirst }, signal);
      try {
        return await work(eitherOf(signal, stop?.signal));
      } catch (error) {
        if (!stop?.signal.aborted || signal?.aborted) throw error;
      } finally {
        this.leave(turn);
      }
    }
  }

  private turn(
    { owner, stop, isFirst }: Pick<Turn, 'owner' | 'stop'> & { isFirst: boolean },
    signal: AbortSignal | undefined,
  ): Promise<Turn> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        owner,
        stop,
        isLent: false,
        start: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(turn);
        },
      };
      const giveUp = (): void => {
        this.remove(turn);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const line = this.waiting.get(owner) ?? [];
      this.put(owner, isFirst ? [...line, turn] : [turn, ...line]);
      this.next();
    });
  }

  private put(owner: string, [first, ...rest]: readonly Turn[]): void {
    if (first) this.waiting.set(owner, [first, ...rest]);
    else this.waiting.delete(owner);
  }

  private remove(turn: Turn): void {
    this.put(
      turn.owner,
      (this.waiting.get(turn.owner) ?? []).filter((one) => one !== turn),
    );
  }

  private next(): void {
    const below = [...this.waiting].filter(([owner]) => this.ownCount(owner) < this.options.slotsPerOwner);
    for (const [owner, line] of below) {
      if (!this.hasRoom) break;
      this.begin(owner, line, false);
    }
    for (const [owner, line] of this.waiting) {
      if (!this.hasRoom) break;
      if (this.ownCount(owner) < this.options.slotsPerOwner || line[0].stop) this.begin(owner, line, true);
    }
    this.callBack();
  }

  private get hasRoom(): boolean {
    return this.running.size < this.options.slots;
  }

  private begin(owner: string, [first, ...rest]: Line, isLent: boolean): void {
    this.waiting.delete(owner);
    this.put(owner, rest); // behind the others
    first.isLent = isLent && this.ownCount(owner) >= this.options.slotsPerOwner;
    this.running.add(first);
    first.start();
  }

  /** Stops as many pieces of lent work, the youngest first, as owners wait for their share. */
  private callBack(): void {
    const lent = [...this.running].filter(({ isLent }) => isLent).reverse();
    const stopping = lent.filter(({ stop }) => stop?.signal.aborted).length;
    const needed = [...this.waiting.keys()].filter((owner) => this.ownCount(owner) < this.options.slotsPerOwner).length;
    for (const { stop } of lent.filter((turn) => !turn.stop?.signal.aborted).slice(0, Math.max(0, needed - stopping))) {
      stop?.abort(new Error('another channel needs the slot'));
    }
  }

  /** How many slots of its share an owner has. */
  private ownCount(owner: string): number {
    return [...this.running].filter((turn) => turn.owner === owner && !turn.isLent).length;
  }

  private leave(turn: Turn): void {
    this.running.delete(turn);
    if (!turn.isLent) {
      const lent = [...this.running].find(({ owner, isLent, stop }) => {
        return owner === turn.owner && isLent && !stop?.signal.aborted;
      });
      if (lent) lent.isLent = false;
    }
    this.next();
  }
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}
