/**
 * The shards that this worker owns.
 *
 * Guarantee: work for a shard runs only while its lease certainly holds. The remaining time is measured on this machine's
 * monotonic clock from *before* the renewal was sent, minus a margin for closing sockets. So a worker that cannot renew
 * (PostgreSQL away, network cut, process paused) has stopped before another worker can take over; what it still tries to
 * write is refused by the fence.
 *
 * Balancing: shards are spread evenly over the live workers. Free and expired shards are claimed; surplus ones are handed
 * off one at a time, after their work has ended in order. Operators' orders are rows in the database: a drained worker's
 * share is zero, and a shard that was placed on a worker is handed off to it in the same way and is not spread until that
 * worker is gone. If no worker accepts shards, they stay where they are.
 *
 * PostgreSQL away: nothing is claimed; after the TTL nothing is owned; when it is back, shards are claimed again. What it still
 * executed for a shard that was lost meanwhile is undone (`left-leases.ts`), so that the lost one stays free for a claim.
 */
import type { LogOf } from '@dormouse/bootstrap';
import type { Fence } from '@dormouse/database';
import { setTimeout as delay } from 'node:timers/promises';
import { fairShare, type ShardLeases } from '@dormouse/database/shards';
import pTimeout from 'p-timeout';
import { LeftLeases } from './left-leases.js';

/** One shard while this worker owns it. */
export interface HeldShard {
  readonly fence: Fence;
  /** Whether the lease certainly holds at this moment. */
  isHeld(): boolean;
  /** Renews the lease to check that the shard is still ours, and loses it here if not. Rejects when the query fails. */
  verify(): Promise<boolean>;
  /** Another worker owns the shard: aborts its work at once. */
  lose(why: LossReason): void;
}

/** Why a shard was lost: not renewed in time, taken by another worker, or a write was refused by the fence. */
export type LossReason = 'expired' | 'taken' | 'fenced';

/** The work for one owned shard. */
export interface ShardWork {
  /** Ends in order: running commands finish, sockets close. Must not reject. */
  finish(): Promise<void>;
  /** Ends at once: all sockets are closed, nothing more is written. */
  abandon(): void;
}

export interface ShardOwnerOptions {
  readonly leases: ShardLeases;
  /** Starts the work for a shard that was claimed. */
  readonly startWork: (held: HeldShard) => ShardWork;
  /** Interval between renewals; several must fit into the TTL. */
  readonly renewEveryMs: number;
  /** How long before the end of the lease sockets are closed. */
  readonly marginMs: number;
  /** Timeout for ending a shard's work in order; after it the work is aborted. */
  readonly finishWithinMs: number;
  readonly log: LogOf<'info' | 'warn'>;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow?: () => number;
  /** Called after each round of renewals and heartbeat. */
  readonly onRenewal?: (outcome: 'renewed' | 'failed') => void;
  readonly onLost?: (why: LossReason) => void;
}

/** Interval between claims while a shard that was placed on this worker is still owned by another one. */
const PLACED_SHARD_INTERVAL_MS = 200;

class OwnedShard implements HeldShard {
  work: ShardWork | undefined;
  /** Set while the shard is handed off. */
  leaving: Promise<void> | undefined;
  private over = false;
  private expiry: NodeJS.Timeout | undefined;
  private holdsUntilMs = 0;

  constructor(
    readonly fence: Fence,
    private readonly owner: {
      now(): number;
      verify(shard: OwnedShard): Promise<void>;
      drop(shard: OwnedShard): void;
      onLost(shard: OwnedShard, why: LossReason): void;
    },
    private readonly log: ShardOwnerOptions['log'],
  ) {}

  isHeld(): boolean {
    return !this.over && this.owner.now() < this.holdsUntilMs;
  }

  async verify(): Promise<boolean> {
    if (!this.over) await this.owner.verify(this); // a lost one must not be renewed
    return this.isHeld();
  }

  lose(why: LossReason): void {
    if (this.over) return;
    this.owner.onLost(this, why);
    this.log.warn({ shard: this.fence.shard, epoch: this.fence.epoch.toString(), why }, 'shard lost');
    this.end();
    this.work?.abandon();
  }

  prolong(untilMs: number): void {
    if (this.over) return;
    this.holdsUntilMs = untilMs;
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.lose('expired'), Math.max(0, untilMs - this.owner.now()));
  }

  /** Its work has ended; the lease may be released. */
  end(): void {
    this.over = true;
    clearTimeout(this.expiry);
    this.owner.drop(this);
  }
}

export class ShardOwner {
  private readonly owned = new Map<number, OwnedShard>();
  private readonly stopping = new AbortController();
  private readonly now: () => number;
  private readonly left: LeftLeases;
  private draining = false;
  private balancing: Promise<void> | undefined;
  private loop: Promise<void> | undefined;
  private away = false;
  /** Whether a shard that was placed on this worker is still owned by another one. */
  private awaitsPlacedShard = false;

  constructor(private readonly options: ShardOwnerOptions) {
    this.now = options.monotonicNow ?? (() => performance.now());
    this.left = new LeftLeases({ now: this.now, release: (fence) => options.leases.release(fence) });
  }

  /** Shards owned now, for metrics and probes. */
  get shards(): number[] {
    return [...this.owned.keys()].sort((a, b) => a - b);
  }

  /** Starts to claim shards and to renew leases. */
  start(): void {
    this.loop ??= this.run();
  }

  /** Ends all work in order, releases all shards, and deregisters this worker. */
  async drain(): Promise<void> {
    this.draining = true;
    const { leases } = this.options;
    await leases.heartbeat(true).catch((error: unknown) => this.noteAway(error));
    // A hand-off that runs already must not delay the others: each may take the whole timeout.
    await Promise.all([this.balancing, this.handOffAll()]);
    await this.handOffAll(); // shards that were claimed meanwhile
    this.stopping.abort();
    await this.loop;
    await this.left.releaseDue().catch((error: unknown) => this.noteAway(error));
    await leases.deregister().catch((error: unknown) => this.noteAway(error));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.renewAll();
        await this.options.leases.heartbeat(this.draining);
        await this.left.releaseDue();
        this.options.onRenewal?.('renewed');
        if (this.away) this.options.log.info({}, 'leases can be renewed again');
        this.away = false;
        this.balance();
      } catch (error) {
        this.options.onRenewal?.('failed');
        this.noteAway(error);
      }
      const { renewEveryMs } = this.options;
      const pauseMs = this.awaitsPlacedShard ? Math.min(PLACED_SHARD_INTERVAL_MS, renewEveryMs) : renewEveryMs;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async renewAll(): Promise<void> {
    await this.renew([...this.owned.values()]);
  }

  private async renew(shards: OwnedShard[]): Promise<void> {
    if (shards.length === 0) return;
    const { leases, marginMs } = this.options;
    const sentAtMs = this.now();
    const renewed = await leases.renew(shards.map(({ fence }) => fence));
    const stillOurs = new Set(renewed.map(({ shard, epoch }) => `${shard}:${epoch}`));
    for (const shard of shards) {
      const { fence } = shard;
      if (stillOurs.has(`${fence.shard}:${fence.epoch}`)) shard.prolong(sentAtMs + leases.ttlMs - marginMs);
      else shard.lose('taken');
    }
  }

  /** One hand-off at a time, in parallel to the renewals: it takes as long as the shard's work needs to end. */
  private balance(): void {
    if (this.balancing || this.draining) return;
    this.balancing = this.moveTowardsShare()
      .catch((error: unknown) => this.noteAway(error))
      .finally(() => (this.balancing = undefined));
  }

  private async moveTowardsShare(): Promise<void> {
    const { leases } = this.options;
    const { workerIds, placed, spreadCount } = await leases.fleet();
    const owned = [...this.owned.values()];
    const placedElsewhere = owned.filter(
      ({ fence }) => (placed.get(fence.shard) ?? leases.workerId) !== leases.workerId,
    );
    const spread = owned.filter(({ fence }) => !placed.has(fence.shard));
    const isMissing = ([shard, workerId]: [number, string]): boolean =>
      workerId === leases.workerId && !this.owned.has(shard);
    if ([...placed].some(isMissing)) await this.claim('placed here');
    this.awaitsPlacedShard = [...placed].some(isMissing);
    const share = fairShare(leases.workerId, workerIds, spreadCount);
    if (spread.length < share) await this.claim({ limit: share - spread.length });
    const isSurplus = spread.length > share && workerIds.length > 0;
    const [leaving] = [...placedElsewhere, ...(isSurplus ? spread.slice(-1) : [])];
    if (!leaving || this.draining) return;
    await this.handOff(leaving);
    await this.moveTowardsShare(); // the fleet may have changed meanwhile
  }

  private async claim(which: Parameters<ShardLeases['claim']>[0]): Promise<void> {
    const { leases, marginMs, startWork, log } = this.options;
    const sentAtMs = this.now();
    for (const fence of await leases.claim(which)) {
      const shard = new OwnedShard(
        fence,
        {
          now: this.now,
          verify: (owned) => this.renew([owned]),
          onLost: (lost, why) => this.noteLost(lost, why),
          drop: (dropped) => {
            if (this.owned.get(fence.shard) === dropped) this.owned.delete(fence.shard);
          },
        },
        log,
      );
      this.owned.set(fence.shard, shard);
      shard.prolong(sentAtMs + leases.ttlMs - marginMs);
      log.info({ shard: fence.shard, epoch: fence.epoch.toString() }, 'shard claimed');
      shard.work = startWork(shard);
    }
  }

  private async handOffAll(): Promise<void> {
    await Promise.all([...this.owned.values()].map((shard) => this.handOff(shard)));
  }

  private handOff(shard: OwnedShard): Promise<void> {
    shard.leaving ??= this.finishAndRelease(shard);
    return shard.leaving;
  }

  private async finishAndRelease(shard: OwnedShard): Promise<void> {
    const { leases, finishWithinMs, log } = this.options;
    const { work } = shard;
    if (work) await pTimeout(work.finish(), { milliseconds: finishWithinMs, fallback: () => work.abandon() });
    if (!shard.isHeld()) {
      shard.lose('expired');
      return;
    }
    shard.end();
    log.info({ shard: shard.fence.shard, epoch: shard.fence.epoch.toString() }, 'shard handed off');
    await leases.release(shard.fence).catch((error: unknown) => {
      this.left.add(shard.fence, 0);
      this.noteAway(error);
    });
  }

  private noteLost({ fence }: OwnedShard, why: LossReason): void {
    this.options.onLost?.(why);
    // A renewal may be under way that PostgreSQL executes yet.
    if (why === 'expired') this.left.add(fence, this.options.marginMs);
  }

  private noteAway(error: unknown): void {
    if (this.away) return;
    this.away = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.options.log.warn({ reason }, 'leases cannot be renewed; shards are lost when their leases end');
  }
}
