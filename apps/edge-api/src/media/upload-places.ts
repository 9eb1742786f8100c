/**
 * Limits how many files of one channel this edge receives at once, so that no channel fills the disk or delays the
 * others' storage. Further requests wait for a moment with their bodies unread, in the order of arrival.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex';

export interface UploadPlacesOptions {
  /** Files of a channel at once. */
  perChannel: number;
  /** How long a further one waits before it is refused, in milliseconds. */
  waitMs: number;
}

/** The place of one request. */
export interface UploadPlace {
  /**
   * Takes the place, unless the request has it already; waits for one.
   * @throws {GatewayError} 429 when none becomes free in time
   */
  take(): Promise<void>;
  /** Gives the place back, also one that is still being waited for; without a place it does nothing. */
  leave(): void;
}

interface Channel {
  places: SemaphoreInterface;
  /** Requests that have a place or wait for one. */
  requests: number;
}

const RETRY_AFTER_S = 5;

export class UploadPlaces {
  readonly #channels = new Map<string, Channel>();
  readonly #perChannel: number;
  readonly #waitMs: number;

  constructor({ perChannel, waitMs }: UploadPlacesOptions) {
    this.#perChannel = perChannel;
    this.#waitMs = waitMs;
  }

  /** Channels that have files on their way. */
  get channels(): number {
    return this.#channels.size;
  }

  open(channelId: string): UploadPlace {
    let taken: Promise<() => void> | undefined;
    return {
      take: async () => {
        taken ??= this.#acquire(channelId);
        await taken;
      },
      leave: () => {
        taken?.then(
          (release) => release(),
          () => undefined,
        );
        taken = undefined;
      },
    };
  }

  async #acquire(channelId: string): Promise<() => void> {
    const channel = this.#channels.get(channelId) ?? { places: this.#places(), requests: 0 };
    this.#channels.set(channelId, channel);
    channel.requests += 1;
    const done = (): void => {
      channel.requests -= 1;
      if (channel.requests === 0) this.#channels.delete(channelId);
    };
    try {
      const [, release] = await channel.places.acquire();
      return () => {
        release();
        done();
      };
    } catch (error) {
      done();
      throw error;
    }
  }

  #places(): SemaphoreInterface {
    const details =
      `media: more than ${this.#perChannel} files of this channel are arriving at once: ` +
      'send fewer at a time, and this one again later';
    const refusal = new GatewayError(429, { details, retryAfterS: RETRY_AFTER_S });
    return withTimeout(new Semaphore(this.#perChannel), this.#waitMs, refusal);
  }
}
