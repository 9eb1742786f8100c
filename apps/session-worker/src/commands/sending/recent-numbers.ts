import { LRUCache } from 'lru-cache';

/**
 * Recent answers of the network about numbers: digits as requested to digits as the network writes them, null for a number
 * that is not on the network.
 */
export interface CheckedNumbers {
  get(digits: string): string | null | undefined;
  set(digits: string, networkDigits: string | null): void;
}

/** Stands for a number that is not on the network: the cache holds no null. */
const UNKNOWN = '';

/** In memory, a few megabytes at most. That a number is unknown is forgotten sooner. */
export class RecentNumbers implements CheckedNumbers {
  readonly #numbers: LRUCache<string, string>;

  constructor(
    now: () => number,
    knownForMs = 3_600_000,
    max = 50_000,
    private readonly unknownForMs = 300_000,
  ) {
    this.#numbers = new LRUCache({ max, ttl: knownForMs, ttlResolution: 0, perf: { now } });
  }

  get(digits: string): string | null | undefined {
    const found = this.#numbers.get(digits);
    return found === UNKNOWN ? null : found;
  }

  set(digits: string, networkDigits: string | null): void {
    if (networkDigits === null) this.#numbers.set(digits, UNKNOWN, { ttl: this.unknownForMs });
    else this.#numbers.set(digits, networkDigits);
  }
}
