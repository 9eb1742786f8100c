/** How many messages all phones hold together: some 30 MB. */
const KEPT_TOGETHER = 20_000;
/** How many of them a phone holds in any case, so that a busy one does not empty a quiet one. */
const KEPT_BY_EACH = 200;

/** The messages of one phone. */
interface HeldMessages {
  readonly size: number;
  dropOldest(): void;
}

/**
 * Bounds what the phones of a network hold, since sandboxes run for days: when there are too many messages, the oldest one goes
 * from the phone that got it, as if its owner had removed it. What is on disk is read again at the next start, up to the same bound.
 */
export class KeptMessages {
  /** Whose message came when, the oldest first. */
  private arrivals: HeldMessages[] = [];
  /** Arrivals before this place were dropped; the list is cut when half of it is such. */
  private first = 0;

  constructor(
    private readonly together = KEPT_TOGETHER,
    private readonly byEach = KEPT_BY_EACH,
  ) {}

  /** A phone has one more message. */
  arrived(log: HeldMessages): void {
    this.arrivals.push(log);
    if (this.arrivals.length - this.first <= this.together) return;
    const oldest = this.arrivals[this.first++];
    if (oldest && oldest.size > this.byEach) oldest.dropOldest();
    if (this.first * 2 <= this.arrivals.length) return;
    this.arrivals = this.arrivals.slice(this.first);
    this.first = 0;
  }

  clear(): void {
    this.arrivals = [];
    this.first = 0;
  }
}
