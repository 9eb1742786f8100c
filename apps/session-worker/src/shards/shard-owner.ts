/**
 * Which shards are this worker's.
 *
 * What it guarantees: work for a shard goes on only while its lease surely holds. The time left is counted on this
 * machine's monotonic clock from *before* the renewal was asked, minus a margin for closing sockets, so a worker that
 * cannot renew (PostgreSQL away, network cut, process paused) has stopped before another can take over; whatever it
 * still tries to write is refused by the fence. Shards are spread evenly over the living workers: free and expired ones
 * are claimed, surplus is given away one shard at a time after its work has ended properly.
 * PostgreSQL away: nothing is claimed; after the TTL nothing is owned; when it is back, shards are claimed anew.
 */
import type { Fence } from '@dormouse/database';
import { setTimeout as delay } from 'node:timers/promises';
import { fairShare, type ShardLeases } from './shard-lease.js';

/** One shard while this worker owns it. */
export interface HeldShard {
  readonly fence: Fence;
  /** Does the lease surely hold at this moment? */
  isHeld(): boolean;
  /** Asks the database whether the shard is still ours; gives it up here if not. Rejects when it cannot be asked. */
  verify(): Promise<boolean>;
  /** Somebody else owns it: ends its work at once. */
  lose(why: string): void;
}

/** What is done for one owned shard. */
export interface ShardWork {
  /** Ends gently: commands finish, sockets close properly. Must not reject. */
  finish(): Promise<void>;
  /** Ends at once: no socket may stay open, nothing more is written. */
  abandon(): void;
}

export interface ShardOwnerOptions {
  readonly leases: ShardLeases;
  /** Starts the work for a shard that has just become ours. */
  readonly startWork: (held: HeldShard) => ShardWork;
  /** Time between renewals; several must fit into the TTL. */
  readonly renewEveryMs: number;
  /** Sockets are closed this long before the lease could end. */
  readonly marginMs: number;
  /** Longest time for ending a shard's work gently. */
  readonly finishWithinMs: number;
  readonly log: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow?: () => number;
}

class OwnedShard implements HeldShard {
  work: ShardWork | undefined;
  private over = false;
  private expiry: NodeJS.Timeout | undefined;
  private holdsUntilMs = 0;

  constructor(
    readonly fence: Fence,
    private readonly owner: { now(): number; verify(shard: OwnedShard): Promise<void>; drop(shard: OwnedShard): void },
    private readonly log: ShardOwnerOptions['log'],
  ) {}

  isHeld(): boolean {
    return !this.over && this.owner.now() < this.holdsUntilMs;
  }

  async verify(): Promise<boolean> {
    await this.owner.verify(this);
    return this.isHeld();
  }

  lose(why: string): void {
    if (this.over) return;
    this.log.warn({ shard: this.fence.shard, epoch: this.fence.epoch.toString(), why }, 'shard lost');
    this.end();
    this.work?.abandon();
  }

  prolong(untilMs: number): void {
    if (this.over) return;
    this.holdsUntilMs = untilMs;
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.lose('could not renew in time'), Math.max(0, untilMs - this.owner.now()));
  }

  /** Its work has ended; the lease may be given up. */
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
  private draining = false;
  private balancing: Promise<void> | undefined;
  private loop: Promise<void> | undefined;
  private away = false;

  constructor(private readonly options: ShardOwnerOptions) {
    this.now = options.monotonicNow ?? (() => performance.now());
  }

  /** Shards owned now, for metrics and probes. */
  get shards(): number[] {
    return [...this.owned.keys()].sort((a, b) => a - b);
  }

  /** Begins to claim and renew. */
  start(): void {
    this.loop ??= this.run();
  }

  /** Gives everything up: ends all work gently, lets others take the shards, leaves the fleet. */
  async drain(): Promise<void> {
    this.draining = true;
    const { leases } = this.options;
    await leases.heartbeat(true).catch((error: unknown) => this.noteAway(error));
    await this.balancing;
    await Promise.all([...this.owned.values()].map((shard) => this.giveAway(shard)));
    this.stopping.abort();
    await this.loop;
    await leases.leaveFleet().catch((error: unknown) => this.noteAway(error));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.renewAll();
        await this.options.leases.heartbeat(this.draining);
        if (this.away) this.options.log.info({}, 'leases can be renewed again');
        this.away = false;
        this.balance();
      } catch (error) {
        this.noteAway(error);
      }
      await delay(this.options.renewEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async renewAll(): Promise<void> {
    await this.renew([...this.owned.values()]);
  }

  private async renew(shards: OwnedShard[]): Promise<void> {
    if (shards.length === 0) return;
    const { leases, marginMs } = this.options;
    const askedAtMs = this.now();
    const renewed = await leases.renew(shards.map(({ fence }) => fence));
    const stillOurs = new Set(renewed.map(({ shard, epoch }) => `${shard}:${epoch}`));
    for (const shard of shards) {
      const { fence } = shard;
      if (stillOurs.has(`${fence.shard}:${fence.epoch}`)) shard.prolong(askedAtMs + leases.ttlMs - marginMs);
      else shard.lose('somebody else owns it');
    }
  }

  /** One at a time, and beside the renewals, because giving a shard away takes as long as its work does. */
  private balance(): void {
    if (this.balancing || this.draining) return;
    this.balancing = this.moveTowardsShare()
      .catch((error: unknown) => this.noteAway(error))
      .finally(() => (this.balancing = undefined));
  }

  private async moveTowardsShare(): Promise<void> {
    const { leases } = this.options;
    const { workerIds, shardCount } = await leases.fleet();
    const share = fairShare(leases.workerId, workerIds, shardCount);
    if (this.owned.size < share) await this.claim(share - this.owned.size);
    const surplus = this.owned.size - share;
    const [newest] = [...this.owned.values()].slice(-1);
    if (surplus > 0 && newest && workerIds.length > 0) {
      await this.giveAway(newest);
      if (surplus > 1 && !this.draining) await this.moveTowardsShare();
    }
  }

  private async claim(limit: number): Promise<void> {
    const { leases, marginMs, startWork, log } = this.options;
    const askedAtMs = this.now();
    for (const fence of await leases.claim(limit)) {
      const shard = new OwnedShard(
        fence,
        {
          now: this.now,
          verify: (asked) => this.renew([asked]),
          drop: (dropped) => {
            if (this.owned.get(fence.shard) === dropped) this.owned.delete(fence.shard);
          },
        },
        log,
      );
      this.owned.set(fence.shard, shard);
      shard.prolong(askedAtMs + leases.ttlMs - marginMs);
      log.info({ shard: fence.shard, epoch: fence.epoch.toString() }, 'shard taken');
      shard.work = startWork(shard);
    }
  }

  private async giveAway(shard: OwnedShard): Promise<void> {
    const { leases, finishWithinMs, log } = this.options;
    const timer = new AbortController();
    const tooLong = delay(finishWithinMs, 'too long' as const, { signal: timer.signal }).catch(() => undefined);
    const outcome = await Promise.race([shard.work?.finish(), tooLong]);
    timer.abort();
    if (outcome === 'too long') shard.work?.abandon();
    const wasHeld = shard.isHeld();
    shard.end();
    if (!wasHeld) return;
    log.info({ shard: shard.fence.shard, epoch: shard.fence.epoch.toString() }, 'shard given away');
    await leases.release(shard.fence).catch((error: unknown) => this.noteAway(error));
  }

  private noteAway(error: unknown): void {
    if (this.away) return;
    this.away = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.options.log.warn({ reason }, 'leases cannot be renewed; what is owned is given up when its time is over');
  }
}
