/**
 * What one socket generation receives, stored one event after the other.
 *
 * What it guarantees: events are stored in the order in which they were received, after those of the channel's earlier sockets. An
 * event that fails by its own fault is reported and costs no other. One that fails because PostgreSQL is away is tried again for
 * a bounded time: the network has its acknowledgement and will not send it again. After that time the socket is closed, so that
 * the network keeps what follows, and each event received before gets one more try. When the shard has a newer owner nothing
 * more is written: that owner receives what the network repeats.
 */
import { FencedError, isStoreAway, retryWhileAway } from '@dormouse/database';
import { inSpan } from '@dormouse/traces';
import type { OpenSession } from '../socket/open-session.js';

export interface Patience {
  /** How long the write of an event is retried. */
  readonly retryForMs: number;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

const RECEIVED = {
  'messaging.system': 'whatsapp',
  'messaging.destination.name': 'network',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
} as const;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export class ChannelWriteQueue {
  private replaced = false;
  /** Something was not stored although nothing is wrong with it. */
  private lost = false;
  private givenUp = false;

  /** @param before what of the channel must be stored first: the work of its earlier sockets */
  constructor(
    readonly session: OpenSession,
    private readonly patience: Patience,
    private tail: Promise<void> = Promise.resolve(),
  ) {}

  /** Does `work` after everything that was received before. */
  enqueue(work: () => Promise<void>): void {
    const facts = { ...RECEIVED, 'dormouse.channel.id': this.session.channelId };
    this.tail = this.tail.then(() =>
      inSpan('process network', { kind: 'consumer', parent: null, facts }, () => this.attempt(work)),
    );
  }

  /** Resolves when everything received so far is stored or given up. Never rejects. */
  drained(): Promise<void> {
    return this.tail;
  }

  /** Resolves when everything received so far is stored; false when something was not, so that it must be received again. */
  async stored(): Promise<boolean> {
    await this.tail;
    return !this.lost;
  }

  /** One write, retried while PostgreSQL is away. @throws what the write failed with in the end */
  store<T>(write: () => Promise<T>): Promise<T> {
    const { now, retryForMs, wait } = this.patience;
    const untilMs = now() + retryForMs;
    return retryWhileAway(write, {
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      pause: wait,
      mayRetry: (pauseMs, error) => {
        if (!this.givenUp && now() + pauseMs > untilMs) this.giveUp(error);
        return !this.givenUp;
      },
    });
  }

  /** Does `work` within a step that is being done; what it fails with is reported. */
  async attempt(work: () => Promise<void>): Promise<void> {
    if (this.replaced) return;
    try {
      await work();
    } catch (error) {
      if (error instanceof FencedError) this.replaced = true;
      if (this.replaced || isStoreAway(error)) this.lost = true;
      this.session.reportFault(error);
    }
  }

  private giveUp(error: unknown): void {
    this.givenUp = true;
    this.session.reportFault(error);
    this.session.network.end(new Error('what is received cannot be stored'));
  }
}
