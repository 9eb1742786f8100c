import type { AccountRoom } from '@dormouse/event-outbox/delivery';

/** Webhooks of one account delivered at a time: as long as nothing is known of it, and where they keep failing. */
const ROOM_AT_FIRST = 100;
const LEAST_ROOM = 8;
/** Accounts that are remembered without anything under way. */
const MAX_REMEMBERED = 10_000;

interface Share {
  active: number;
  room: number;
}

/**
 * How many webhooks of each account are delivered side by side. What an account may have grows with each webhook that
 * accepts its events and is halved by each that fails, between bounds: a thousand webhooks that fail at a time soon have
 * few deliveries under way, and those of others find the database and the processor free.
 */
export class AccountShares {
  readonly #shares = new Map<string, Share>();

  /** @param most of one account at a time */
  constructor(private readonly most: number) {}

  /** What may be claimed at this moment. */
  get room(): AccountRoom {
    const of: Record<string, number> = {};
    for (const [account, { active, room }] of this.#shares) of[account] = Math.max(0, room - active);
    return { of, each: this.#atFirst };
  }

  begin(account: string): void {
    const share = this.#shares.get(account) ?? { active: 0, room: this.#atFirst };
    share.active += 1;
    this.#shares.delete(account); // the last one used is the last one forgotten
    this.#shares.set(account, share);
  }

  end(account: string, failed: boolean): void {
    const share = this.#shares.get(account);
    if (!share) return;
    share.active -= 1;
    share.room = failed
      ? Math.max(Math.min(LEAST_ROOM, this.most), Math.floor(share.room / 2))
      : Math.min(this.most, share.room + 1);
    if (share.active === 0 && (share.room >= this.#atFirst || this.#shares.size > MAX_REMEMBERED))
      this.#shares.delete(account);
  }

  /** Some account has as many under way as it may. */
  get isAnyFull(): boolean {
    return [...this.#shares.values()].some(({ active, room }) => active >= room);
  }

  get #atFirst(): number {
    return Math.min(ROOM_AT_FIRST, this.most);
  }
}
