/**
 * Bytes that many requests share: of memory, or of a disk. Who needs some holds them first and is refused at once when
 * there are none left, so that what is promised here is never exceeded, whoever asks for how much.
 */
import { GatewayError } from '@dormouse/gateway-contract';

/** A part of the budget, held for one piece of work. */
export interface HeldBytes {
  /**
   * Holds so many bytes more.
   * @throws {GatewayError} 503 when too few are left
   */
  hold(bytes: number): void;
  /** Gives everything back; the second time does nothing. */
  release(): void;
}

export interface ByteBudgetOptions {
  totalBytes: number;
  /** The most that one owner may hold at a time; absent: all of it. */
  perOwnerBytes?: number;
  /** What the refusal says, such as `too many bodies are arriving at once`. */
  refusal: string;
}

/** Enough for what holds the bytes to end, as a rule. */
const RETRY_AFTER_S = 5;

export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  readonly #byOwner = new Map<string, number>();
  #heldBytes = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param owner whose share it counts against */
  open(owner = ''): HeldBytes {
    let held = 0;
    return {
      hold: (bytes) => {
        this.#add(owner, bytes);
        held += bytes;
      },
      release: () => {
        this.#take(owner, held);
        held = 0;
      },
    };
  }

  #add(owner: string, bytes: number): void {
    const { totalBytes, perOwnerBytes = totalBytes, refusal } = this.#options;
    const own = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (this.#heldBytes + bytes > totalBytes || own > perOwnerBytes) {
      throw new GatewayError(503, { details: `${refusal}: try again later`, retryAfterS: RETRY_AFTER_S });
    }
    this.#heldBytes += bytes;
    this.#byOwner.set(owner, own);
  }

  #take(owner: string, bytes: number): void {
    this.#heldBytes -= bytes;
    const left = (this.#byOwner.get(owner) ?? 0) - bytes;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }
}
