import { SESSION_STATES, type SessionState } from '@dormouse/gateway-contract';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { RetentionMetrics } from '../retention/retention-metrics.js';

interface Present {
  readonly sessions: () => Map<SessionState, number>;
  readonly shards: () => number;
  /** Channels with a command that runs or waits. */
  readonly lanes: () => number;
}

/** What a worker counts; names and labels hold no customer's data. */
export class WorkerMetrics {
  private readonly commands: Counter<'command' | 'status'>;
  private readonly commandSeconds: Histogram<'command' | 'outcome'>;
  private readonly acks: Counter<'outcome'>;
  private readonly closes: Counter<'reason'>;
  private readonly wakeSeconds: Histogram;
  private readonly sleepRoundSeconds: Histogram;
  private readonly damagedSnapshots: Counter;
  private readonly otherMasterKey: Gauge;
  private readonly failedWakes: Counter<'reason'>;
  private readonly renewals: Counter<'outcome'>;
  private readonly losses: Counter<'reason'>;
  private readonly files: Counter<'outcome'>;
  readonly retention: RetentionMetrics;

  constructor(registry: Registry, now: Present) {
    const registers = [registry];
    this.commands = new Counter({
      name: 'dormouse_commands_total',
      help: 'Commands answered, by the status their caller gets',
      labelNames: ['command', 'status'],
      registers,
    });
    this.commandSeconds = new Histogram({
      name: 'dormouse_command_seconds',
      help: 'From taking a command to its answer, waits included, by outcome: done, refused (4xx), failed (5xx)',
      labelNames: ['command', 'outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.acks = new Counter({
      name: 'dormouse_message_acks_total',
      help: "The network's answers to messages, by refusal code",
      labelNames: ['outcome'],
      registers,
    });
    this.closes = new Counter({
      name: 'dormouse_socket_closes_total',
      help: 'Sockets that closed by themselves, by reason',
      labelNames: ['reason'],
      registers,
    });
    this.wakeSeconds = new Histogram({
      name: 'dormouse_wake_seconds',
      help: 'From the wish for a sleeping session to its open socket',
      buckets: [0.05, 0.1, 0.15, 0.25, 0.4, 0.75, 1.5, 3, 6, 12, 30],
      registers,
    });
    this.sleepRoundSeconds = new Histogram({
      name: 'dormouse_sleep_round_seconds',
      help: 'Searches for sessions that fall asleep or are woken in their turn, without what they begin',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
    this.failedWakes = new Counter({
      name: 'dormouse_failed_wakes_total',
      help: 'Wakes that were given up after their tries, by the reason of the last one',
      labelNames: ['reason'],
      registers,
    });
    this.damagedSnapshots = new Counter({
      name: 'dormouse_damaged_snapshots_total',
      help: 'Snapshots that were needed and missing or did not open',
      registers,
    });
    this.otherMasterKey = new Gauge({
      name: 'dormouse_channels_under_other_master_key',
      help: 'Channels of owned shards whose keys the last pass could not wrap by the current master key',
      registers,
    });
    this.renewals = new Counter({
      name: 'dormouse_lease_renewals_total',
      help: 'Rounds of renewing leases and heartbeat, by outcome: renewed, failed',
      labelNames: ['outcome'],
      registers,
    });
    this.losses = new Counter({
      name: 'dormouse_shards_lost_total',
      help: 'Shards lost without having been given away: expired (not renewed in time), taken, fenced (a write was refused)',
      labelNames: ['reason'],
      registers,
    });
    this.files = new Counter({
      name: 'dormouse_auto_downloads_total',
      help: 'Files of received messages that the channel wants at once, by outcome: fetched, storage_full, failed',
      labelNames: ['outcome'],
      registers,
    });
    this.retention = new RetentionMetrics(registry);
    measureNow(registry, now);
  }

  readonly answered = (command: string, status: number, tookMs: number): void => {
    this.commands.inc({ command, status });
    const outcome = status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';
    this.commandSeconds.observe({ command, outcome }, tookMs / 1_000);
  };

  readonly renewed = (outcome: 'renewed' | 'failed'): void => this.renewals.inc({ outcome });

  readonly lost = (reason: string): void => this.losses.inc({ reason });

  readonly acked = ({ error }: { error?: string }): void => this.acks.inc({ outcome: error ?? 'accepted' });

  readonly woken = (tookMs: number): void => this.wakeSeconds.observe(tookMs / 1_000);

  readonly sleepRound = (tookMs: number): void => this.sleepRoundSeconds.observe(tookMs / 1_000);

  readonly wakeFailed = ({ name }: { name: string }): void => this.failedWakes.inc({ reason: name });

  readonly underOtherMasterKey = (channels: number): void => this.otherMasterKey.set(channels);

  readonly fileEnded = (outcome: 'fetched' | 'storage_full' | 'failed'): void => this.files.inc({ outcome });

  readonly damaged = (): void => this.damagedSnapshots.inc();

  readonly closed = ({ name }: { name: string }): void => this.closes.inc({ reason: name });
}

/** Gauges that are read when metrics are collected. */
function measureNow(registry: Registry, now: Present): void {
  const registers = [registry];
  new Gauge({
    name: 'dormouse_sessions',
    help: 'Sessions held, by state',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = now.sessions();
      for (const state of SESSION_STATES) this.set({ state }, counts.get(state) ?? 0);
    },
  });
  new Gauge({
    name: 'dormouse_lanes_busy',
    help: 'Channels with a command that runs or waits for its turn',
    registers,
    collect() {
      this.set(now.lanes());
    },
  });
  new Gauge({
    name: 'dormouse_shards_owned',
    help: 'Shards this worker owns',
    registers,
    collect() {
      this.set(now.shards());
    },
  });
}
