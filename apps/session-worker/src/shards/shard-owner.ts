/**
 * Which shards are this worker's.
 *
 * What it guarantees: work for a shard goes on only while its lease surely holds. The time left is counted on this
 * machine's monotonic clock from *before* the renewal was asked, minus a margin for closing sockets, so a worker that
 * cannot renew (PostgreSQL away, network cut, process paused) has stopped before another can take over; whatever it
 * still tries to write is refused by the fence. Shards are spread evenly over the living workers: free and expired ones
 * are claimed, surplus is given away one shard at a time after its work has ended properly. What operators want stands
 * in the database: a drained worker's share is nothing, and a shard that was placed on a worker moves there in the same
 * way and is outside the spreading until that worker goes. If no worker takes shards, they stay where they are.
 * PostgreSQL away: nothing is claimed; after the TTL nothing is owned; when it is back, shards are claimed anew.
 */
import type { Fence } from '@dormouse/database';
import { setTimeout as delay } from 'node:timers/promises';
import { fairShare, type ShardLeases } from '@dormouse/database/shards';

/** One shard while this worker owns it. */
export interface HeldShard {
  readonly fence: Fence;
  /** Does the lease surely hold at this moment? */
  isHeld(): boolean;
  /** Asks the database whether the shard is still ours; gives it up here if not. Rejects when it cannot be asked. */
  verify(): Promise<boolean>;
  /** Somebody else owns it: ends its work at once. */
  lose(why: LossReason): void;
}

/** Why a shard was lost: not renewed in time, taken by another worker, or a write was refused by the fence. */
export type LossReason = 'expired' | 'taken' | 'fenced';

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
  /** The leases and the heartbeat were written, or could not be. */
  readonly onRenewal?: (outcome: 'renewed' | 'failed') => void;
  readonly onLost?: (why: LossReason) => void;
}

/** A shard that was placed here and that its owner has not given away yet is asked for so often. */
const EXPECTED_SOON_MS = 200;

class OwnedShard implements HeldShard {
  work: ShardWork | undefined;
  /** Set once it is being given away. */
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
      onLost?: ShardOwnerOptions['onLost'];
    },
    private readonly log: ShardOwnerOptions['log'],
  ) {}

  isHeld(): boolean {
    return !this.over && this.owner.now() < this.holdsUntilMs;
  }

  async verify(): Promise<boolean> {
    await this.owner.verify(this);
    return this.isHeld();
  }

  lose(why: LossReason): void {
    if (this.over) return;
    this.owner.onLost?.(why);
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
  /** A shard was placed here and is somebody else's still. */
  private expects = false;

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
    // A shard that is being given away already must not keep the others waiting: each may take its whole time.
    await Promise.all([this.balancing, this.giveAllAway()]);
    await this.giveAllAway(); // claimed in the same moment
    this.stopping.abort();
    await this.loop;
    await leases.deregister().catch((error: unknown) => this.noteAway(error));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.renewAll();
        await this.options.leases.heartbeat(this.draining);
        this.options.onRenewal?.('renewed');
        if (this.away) this.options.log.info({}, 'leases can be renewed again');
        this.away = false;
        this.balance();
      } catch (error) {
        this.options.onRenewal?.('failed');
        this.noteAway(error);
      }
      const { renewEveryMs } = this.options;
      const pauseMs = this.expects ? Math.min(EXPECTED_SOON_MS, renewEveryMs) : renewEveryMs;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
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
      else shard.lose('taken');
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
    const { workerIds, placed, spreadCount } = await leases.fleet();
    const owned = [...this.owned.values()];
    const placedElsewhere = owned.filter(
      ({ fence }) => (placed.get(fence.shard) ?? leases.workerId) !== leases.workerId,
    );
    const spread = owned.filter(({ fence }) => !placed.has(fence.shard));
    const isMissing = ([shard, workerId]: [number, string]): boolean =>
      workerId === leases.workerId && !this.owned.has(shard);
    if ([...placed].some(isMissing)) await this.claim('placed here');
    this.expects = [...placed].some(isMissing);
    const share = fairShare(leases.workerId, workerIds, spreadCount);
    if (spread.length < share) await this.claim({ limit: share - spread.length });
    const isSurplus = spread.length > share && workerIds.length > 0;
    const [leaving] = [...placedElsewhere, ...(isSurplus ? spread.slice(-1) : [])];
    if (!leaving || this.draining) return;
    await this.giveAway(leaving);
    await this.moveTowardsShare(); // the database may say something else by now
  }

  private async claim(which: Parameters<ShardLeases['claim']>[0]): Promise<void> {
    const { leases, marginMs, startWork, log } = this.options;
    const askedAtMs = this.now();
    for (const fence of await leases.claim(which)) {
      const shard = new OwnedShard(
        fence,
        {
          now: this.now,
          verify: (asked) => this.renew([asked]),
          onLost: this.options.onLost,
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

  private async giveAllAway(): Promise<void> {
    await Promise.all([...this.owned.values()].map((shard) => this.giveAway(shard)));
  }

  private giveAway(shard: OwnedShard): Promise<void> {
    shard.leaving ??= this.finishAndRelease(shard);
    return shard.leaving;
  }

  private async finishAndRelease(shard: OwnedShard): Promise<void> {
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
