/**
 * Sends whose outcome is not known: the network did not acknowledge them in time, or the connection or the worker ended
 * before it did. Their callers got 502.
 *
 * What it guarantees: none of them stays pending. A late acknowledgement or a receipt makes it sent; without either it
 * becomes failed, and its customer is notified, within a minute of the reconnection (or of the 502, where the connection
 * goes on). Nothing is sent again: what the network did not take stays unsent, because its caller may have sent it again.
 * The first receipt ends a wrong failure. What an earlier owner of the channel left pending is found in
 * the store. With PostgreSQL away it is retried while the connection lasts, then by the next one.
 */
import { UNCONFIRMED, type MessageWriter, type StatusReport } from '@dormouse/message-store/write';
import { refusalOf } from '../../convert/refusal.js';
import type { AckNotice } from '../../socket/network-events.js';
import type { Attachment, OpenSession, SessionListener } from '../../socket/open-session.js';

export interface UnconfirmedOptions {
  readonly writer: Pick<MessageWriter, 'pendingSends' | 'recordStatuses'>;
  /** Notifies the dispatcher of new events. A lost signal does no harm: the dispatcher polls. */
  readonly eventsReady: (channelId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * How long receipts of earlier sends may take after the network delivered all that waited, and how long a late
   * acknowledgement may take on the same connection. Milliseconds.
   */
  readonly graceMs?: number;
}

const GRACE_MS = 15_000;

/** Where a send puts its id when its outcome is unknown. */
export interface UnconfirmedIds {
  add(session: OpenSession, keyId: string): void;
}

export class UnconfirmedSends implements SessionListener, UnconfirmedIds {
  private readonly watches = new WeakMap<OpenSession, Watch>();

  constructor(private readonly options: UnconfirmedOptions) {}

  attach(session: OpenSession): Attachment {
    const watch = new Watch(session, this.options);
    this.watches.set(session, watch);
    const { events } = session.network;
    events.onAck((ack) => watch.acknowledged(ack));
    events.onConnection(({ state, isCaughtUp }) => {
      if (state === 'closed') watch.end();
      else if (isCaughtUp) watch.caughtUp();
    });
    return {
      drained: () => {
        watch.end();
        return watch.settled();
      },
    };
  }

  /** A send of this session has ended without the network's answer. */
  add(session: OpenSession, keyId: string): void {
    this.watches.get(session)?.add(keyId);
  }
}

/** What one socket generation has to settle. */
class Watch {
  private readonly since: number;
  private readonly late = new Set<string>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private over = false;
  private tail: Promise<void> = Promise.resolve();

  constructor(
    private readonly session: OpenSession,
    private readonly options: UnconfirmedOptions,
  ) {
    this.since = this.nowS();
  }

  /** The receipts that waited have arrived: what is still pending from earlier connections was not accepted. */
  caughtUp(): void {
    this.later(() => this.failEarlier());
  }

  add(keyId: string): void {
    if (this.over) return; // the next connection finds it in the store
    this.late.add(keyId);
    this.later(async () => {
      if (this.late.has(keyId)) await this.fail([keyId]);
      this.late.delete(keyId);
    });
  }

  acknowledged({ id, error, timestampS: timestamp = this.nowS() }: AckNotice): void {
    if (!this.late.delete(id)) return;
    const report: StatusReport =
      error === undefined
        ? { keyId: id, status: 'sent', timestamp }
        : { keyId: id, status: 'failed', timestamp, errors: [refusalOf(error)] };
    this.tail = this.tail.then(() => this.record([report])).catch((error: unknown) => this.session.reportFault(error));
  }

  end(): void {
    this.over = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  /** Resolves when all that was begun is written. */
  settled(): Promise<void> {
    return this.tail;
  }

  private later(work: () => Promise<void>): void {
    if (this.over) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.tail = this.tail.then(work).catch((error: unknown) => {
        this.session.reportFault(error);
        this.later(work);
      });
    }, this.options.graceMs ?? GRACE_MS);
    this.timers.add(timer);
  }

  private async failEarlier(): Promise<void> {
    const { channelId, identity } = this.session;
    const pending = await this.options.writer.pendingSends(channelId, identity.phone, this.since);
    // One that its caller repeats is awaited again; one of this connection has its own timeout.
    await this.fail(pending.filter((keyId) => !this.session.awaitsAck(keyId) && !this.late.has(keyId)));
  }

  private async fail(keyIds: readonly string[]): Promise<void> {
    const timestamp = this.nowS();
    await this.record(keyIds.map((keyId) => ({ keyId, status: 'failed', timestamp, errors: [UNCONFIRMED] })));
  }

  private async record(reports: readonly StatusReport[]): Promise<void> {
    const { fence, channelId } = this.session;
    const { seqs } = await this.options.writer.recordStatuses(fence, channelId, reports);
    if (seqs.length > 0) this.options.eventsReady(channelId);
  }

  private nowS(): number {
    return Math.floor(this.options.now() / 1_000);
  }
}
