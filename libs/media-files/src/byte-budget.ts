/**
 * A budget of bytes that many requests share: of memory, or of a disk. A request reserves bytes before it uses them and
 * is rejected at once when too few are left, so that the budget is never exceeded.
 */
import { GatewayError } from '@dormouse/gateway-contract';

/** A part of the budget, held for one piece of work. */
export interface HeldBytes {
  /**
   * Reserves further bytes.
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
  /** Text of the error, such as `too many bodies are arriving at once`. */
  refusal: string;
}

/** Usually enough for the requests that hold the bytes to end. */
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
