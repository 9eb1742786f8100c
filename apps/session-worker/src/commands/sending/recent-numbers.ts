/**
 * Numbers that the network was asked about lately: digits as asked to digits as the network writes them, null for one
 * that it does not know.
 */
export interface CheckedNumbers {
  get(digits: string): string | null | undefined;
  set(digits: string, networkDigits: string | null): void;
}

/**
 * What the network said of numbers lately, in memory: a few megabytes at most, forgotten after a while; that it does not
 * know one, sooner.
 */
export class RecentNumbers implements CheckedNumbers {
  private readonly known = new Map<string, { networkDigits: string | null; untilMs: number }>();

  constructor(
    private readonly now: () => number,
    private readonly keepForMs = 3_600_000,
    private readonly most = 50_000,
    private readonly keepUnknownForMs = 300_000,
  ) {}

  get(digits: string): string | null | undefined {
    const entry = this.known.get(digits);
    return entry && entry.untilMs > this.now() ? entry.networkDigits : undefined;
  }

  set(digits: string, networkDigits: string | null): void {
    const forMs = networkDigits === null ? this.keepUnknownForMs : this.keepForMs;
    this.known.delete(digits);
    this.known.set(digits, { networkDigits, untilMs: this.now() + forMs });
    const [oldest] = this.known.keys();
    if (this.known.size > this.most && oldest !== undefined) this.known.delete(oldest);
  }
}
