import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import pg from 'pg';
import { eventually } from './eventually.js';
import { Fleet, type ProxiedWorker } from './fleet.js';
import { type LinkedChannel, RunningStack } from './running-stack.js';
import type { VirtualPhone } from './simulated-network.js';
import { Traffic } from './traffic.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** Leases end soon, so that a journey sees them end, and not so soon that a busy machine loses them. */
const QUICK_LEASES = { LEASE_TTL_MS: '6000', RECONNECT_BASE_MS: '200' };
const NO_LIMITS = { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' };
const SHARDS = 6;
/** Pause between two messages of each channel. */
const TALK_EVERY_MS = 500;

interface Parts {
  readonly running: RunningStack;
  readonly database: pg.Client;
  readonly fleet: Fleet;
  readonly hook: WebhookReceiver;
  readonly friend: VirtualPhone;
  readonly channels: readonly LinkedChannel[];
  /** Those that were there from the start. */
  readonly workers: [ProxiedWorker, ProxiedWorker];
  /** What everything but the workers reaches Redis through. */
  readonly redisOfOthers: FaultProxy;
}

async function linkTo(running: RunningStack, hook: WebhookReceiver, name: string): Promise<LinkedChannel> {
  const channel = await running.createLinkedChannel(name);
  await channel.client.request('PATCH', '/settings', { body: { webhooks: [{ url: hook.url }] } });
  return channel;
}

/**
 * Two session workers whose connections to the stores can be interrupted, six channels in six shards, a friend who
 * exchanges messages with all of them, and a record of what was sent.
 */
export class FleetJourney implements Parts {
  readonly running;
  readonly database;
  readonly fleet;
  readonly hook;
  readonly friend;
  readonly channels;
  readonly workers;
  readonly redisOfOthers;

  private constructor(parts: Parts) {
    this.running = parts.running;
    this.database = parts.database;
    this.fleet = parts.fleet;
    this.hook = parts.hook;
    this.friend = parts.friend;
    this.channels = parts.channels;
    this.workers = parts.workers;
    this.redisOfOthers = parts.redisOfOthers;
  }

  static async begin(switches: Record<string, string> = {}): Promise<FleetJourney> {
    const proxies: { redis?: FaultProxy } = {};
    const running = await RunningStack.start({
      shardCount: SHARDS,
      env: async ({ regions }) => {
        const proxy = await FaultProxy.to(regions.sg.redisUrl);
        proxies.redis = proxy;
        const through = (app: 'edge-api' | 'webhook-dispatcher'): { REDIS_URL: string } => {
          const url = new URL(regions.sg.accounts[app].redisUrl);
          url.host = new URL(proxy.url).host;
          return { REDIS_URL: url.href };
        };
        return {
          'edge-api': { ...through('edge-api'), ...NO_LIMITS },
          'webhook-dispatcher': through('webhook-dispatcher'),
        };
      },
    });
    if (!proxies.redis) throw new Error('the stack did not request its switches');
    const database = new pg.Client({ connectionString: running.stack.databases.sg });
    await database.connect();
    const fleet = new Fleet(running, database, SHARDS, { ...QUICK_LEASES, ...switches });
    const hook = await WebhookReceiver.start();
    const friend = await running.network.createPhone({ name: 'Ada' });
    const [linking] = running.stack.processes['session-worker'];
    const channels: LinkedChannel[] = [];
    for (let count = 1; count <= SHARDS; count += 1) channels.push(await linkTo(running, hook, `number ${count}`));
    const workers: [ProxiedWorker, ProxiedWorker] = [await fleet.join(), await fleet.join()];
    if (linking !== undefined) await running.stack.killWorker(linking, 'SIGTERM');
    await fleet.untilSpread(workers);
    return new FleetJourney({
      running,
      database,
      fleet,
      hook,
      friend,
      channels,
      workers,
      redisOfOthers: proxies.redis,
    });
  }

  /** One more channel, whose webhook is the journey's, and without traffic. */
  link(name: string): Promise<LinkedChannel> {
    return linkTo(this.running, this.hook, name);
  }

  async end(): Promise<void> {
    await this.database.end();
    await this.running.stop();
    await this.hook.close();
    await this.fleet.close();
    await this.redisOfOthers.close();
  }

  traffic(): Traffic {
    const { channels, friend, hook } = this;
    return new Traffic({ channels, friend, hook, everyMs: TALK_EVERY_MS }).start();
  }

  /** The channels whose shards a worker owns. */
  async channelsOf({ name }: ProxiedWorker): Promise<LinkedChannel[]> {
    const shards = (await this.fleet.shards()).get(name) ?? [];
    const { rows } = await this.database.query<{ id: string }>('SELECT id FROM channels WHERE shard = ANY($1)', [
      shards,
    ]);
    return this.channels.filter(({ id }) => rows.some((row) => row.id === id));
  }

  /** How often the network saw two sockets of one device at once. */
  async overlaps(): Promise<number> {
    return (await this.running.network.connections()).overlaps;
  }

  /** The devices that the phones of the channels list, now and at their link. */
  async devices(): Promise<{ now: number[]; linked: number[] }> {
    const now = await Promise.all(this.channels.map(({ phone }) => phone.devices()));
    return {
      now: now.flatMap((devices) => devices.map(({ device }) => device)),
      linked: this.channels.map(({ device }) => device),
    };
  }

  /** The keys and credentials that were written under these turns of ownership, each with a hash of its content. */
  async rowsOf(turns: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.query<{ row: string }>(
      `SELECT concat_ws(' ', stored.channel_id, type, stored.id, epoch, md5(sealed)) AS row
       FROM (SELECT channel_id, type, id, epoch, sealed FROM auth_keys
             UNION ALL SELECT channel_id, 'credentials', '', epoch, sealed FROM auth_creds) AS stored
       JOIN channels c ON c.id = stored.channel_id WHERE c.shard || ' ' || stored.epoch = ANY($1)`,
      [turns],
    );
    return rows.map(({ row }) => row);
  }

  /** The present turns of ownership of the channels' shards: `<shard> <epoch>`. */
  async turns(channels: readonly LinkedChannel[]): Promise<string[]> {
    const { rows } = await this.database.query<{ turn: string }>(
      "SELECT l.shard || ' ' || l.epoch AS turn FROM channels c JOIN shard_leases l USING (shard) WHERE c.id = ANY($1)",
      [channels.map(({ id }) => id)],
    );
    return rows.map(({ turn }) => turn).toSorted();
  }

  /** Resolves when a worker logs that it has lost these turns. */
  async untilLost({ pid }: ProxiedWorker, turns: readonly string[]): Promise<void> {
    await eventually(
      async () => {
        const lines = await this.running.workerLog<{ shard: number; epoch: string; pid: number }>('shard lost');
        const lost = new Set(lines.filter((line) => line.pid === pid).map(({ shard, epoch }) => `${shard} ${epoch}`));
        return turns.every((turn) => lost.has(turn));
      },
      { what: `the worker detects that it has lost ${turns.join(', ')}` },
    );
  }
}
