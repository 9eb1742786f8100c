/**
 * A fixed number of slots shared by many owners (channels). Each owner has a share of the slots, and free slots go to the
 * owners in turn: however much work one owner queues, another owner waits for at most two pieces of it. A slot that no
 * other owner needs is lent to work that can be restarted. When another owner waits for its share, lent work is aborted,
 * goes back to the head of its owner's line and runs again later.
 */
export interface FairQueueOptions {
  /** Pieces of work in parallel. */
  readonly slots: number;
  /** Pieces of work of one owner in parallel: its share, beyond which slots are only lent. */
  readonly slotsPerOwner: number;
}

/** A piece of work, waiting or running. */
interface Turn {
  readonly owner: string;
  /** Aborts the work when its slot is needed; absent for work that cannot be restarted. */
  readonly stop: AbortController | undefined;
  /** Whether the slot is beyond the owner's share. */
  isLent: boolean;
  start(): void;
}

/** The waiting work of one owner. */
type Line = readonly [Turn, ...Turn[]];

export class FairQueue {
  /** Owners with waiting work; the first is served next. */
  private readonly waiting = new Map<string, Line>();
  /** Running work, the oldest first. */
  private readonly running = new Set<Turn>();

  constructor(private readonly options: FairQueueOptions) {}

  /**
   * Runs `work` when a slot is free for its owner.
   * @param work gets a signal that is aborted when the caller's signal is, or when the slot is needed
   * @param options.canRestart the work may be aborted and run again from its start
   * @throws the signal's reason when it is aborted before the work began; whatever `work` throws
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
    this.reclaimLentSlots();
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

  /** Aborts lent work, the latest first, until there is a slot for each owner that waits for its share. */
  private reclaimLentSlots(): void {
    const lent = [...this.running].filter(({ isLent }) => isLent).reverse();
    const stopping = lent.filter(({ stop }) => stop?.signal.aborted).length;
    const needed = [...this.waiting.keys()].filter((owner) => this.ownCount(owner) < this.options.slotsPerOwner).length;
    for (const { stop } of lent.filter((turn) => !turn.stop?.signal.aborted).slice(0, Math.max(0, needed - stopping))) {
      stop?.abort(new Error('another channel needs the slot'));
    }
  }

  /** How many slots of its share an owner uses. */
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
