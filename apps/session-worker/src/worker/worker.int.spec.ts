/** The worker as a process, with real stores and the simulated network. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { CommandClient } from '@dormouse/queues';
import { builtApp } from '@dormouse/stack/built-app';
import { claimTestRedis, createTestDatabase, recordPlanModes, type TestStore } from '@dormouse/stack/test-stores';
import { startTestNetwork, type TestNetwork } from '../test-network.js';

const SHARDS = 4;

interface RunningWorker {
  process: ChildProcess;
  lines: string[];
  /** Ends it and gives the exit code (null after SIGKILL) and how long that took. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; tookMs: number }>;
}

describe('session worker', () => {
  let database: RegionalDatabase;
  let store: TestStore;
  let redis: TestStore;
  let network: TestNetwork;
  let client: CommandClient;
  let directory: ChannelDirectory;
  const masterKey = randomBytes(32).toString('base64');
  const settingsKey = randomBytes(32).toString('base64');
  const workers = new Set<RunningWorker>();

  const startWorker = async (id: string): Promise<RunningWorker> => {
    const { entry, nodeVariables } = builtApp('session-worker');
    const child = spawn(process.execPath, [entry], {
      env: {
        ...nodeVariables,
        REGION: 'sg',
        REGIONAL_DATABASE_URL: store.url,
        REDIS_URL: redis.url,
        S3_BUCKET: 'none',
        S3_ENDPOINT: 'http://127.0.0.1:9',
        MASTER_KEY: masterKey,
        MASTER_KEY_ID: 'k1',
        SETTINGS_MASTER_KEY: settingsKey,
        SETTINGS_MASTER_KEY_ID: 's1',
        NETWORK_SOCKET_URL: network.socketUrl,
        NETWORK_ROOT_KEY: network.rootKey.toString('base64'),
        SHARD_COUNT: String(SHARDS),
        WORKER_ID: id,
        PROBE_PORT: '0',
        HOST: '127.0.0.1',
        RECONNECT_BASE_MS: '50',
        LOG_LEVEL: 'debug',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const worker: RunningWorker = {
      process: child,
      lines: [],
      end: async (signal) => {
        const startedMs = performance.now();
        const exited = once(child, 'exit') as Promise<[number | null]>;
        child.kill(signal);
        const [code] = await exited;
        workers.delete(worker);
        return { code, tookMs: performance.now() - startedMs };
      },
    };
    workers.add(worker);
    if (!child.stdout) throw new Error('no output');
    const output = createInterface(child.stdout);
    output.on('line', (line) => worker.lines.push(line));
    while (!worker.lines.some((line) => line.includes('"listening"'))) await once(output, 'line');
    return worker;
  };

  beforeAll(async () => {
    [store, redis, network] = await Promise.all([createTestDatabase('regional'), claimTestRedis(), startTestNetwork()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'worker-spec' });
    directory = new ChannelDirectory({ database, cacheMs: 0 });
    client = new CommandClient({ redisUrl: redis.url });
    await client.start();
  }, 30_000);

  afterAll(async () => {
    await Promise.all([...workers].map((worker) => worker.end('SIGKILL')));
    await client.close();
    await database.close();
    await network.stop();
    await Promise.all([store.drop(), redis.drop()]);
  }, 30_000);

  const newChannel = async (n: number) => {
    const channel = { id: `channel-${n}`, shard: n % SHARDS };
    await directory.create({ ...channel, accountId: 'a', name: channel.id, tokenHash: randomBytes(32) });
    return channel;
  };

  const call = { requestId: 'r', startWithinMs: 40_000, answerWithinMs: 60_000 };

  const link = async (channel: { id: string; shard: number }): Promise<string> => {
    const { code } = await client.call(channel, 'channel.loginCode', {}, call);
    const { phone } = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${phone}/scan`, { qr: code });
    while ((await directory.refresh(channel.id))?.session.state !== 'open') await delay(20);
    return phone;
  };

  const send = (channel: { id: string; shard: number }, to: string, body: string) =>
    client.call(channel, 'messages.sendText', { to, body }, call);

  const textsOf = async (phone: string): Promise<(string | undefined)[]> => {
    const messages = await network.call<
      { text?: string; fromMe: boolean }[] | { messages: { text?: string; fromMe: boolean }[] }
    >('GET', `/phones/${phone}/messages`);
    const list = Array.isArray(messages) ? messages : messages.messages;
    return list.filter(({ fromMe }) => !fromMe).map(({ text }) => text);
  };

  const overlaps = async (): Promise<number> =>
    (await network.call<{ overlaps: number }>('GET', '/connections')).overlaps;

  const friend = async (): Promise<string> => (await network.call<{ phone: string }>('POST', '/phones', {})).phone;

  it('links, sends, hands over on SIGTERM, survives SIGKILL, and never needs a second scan', async () => {
    const first = await startWorker('first');
    const channels = await Promise.all([0, 1, 2, 3].map(newChannel));
    await Promise.all(channels.map(link));
    const to = await friend();
    for (const channel of channels) await send(channel, to, `one from ${channel.id}`);
    const second = await startWorker('second');
    const ended = await first.end('SIGTERM');
    expect(ended.code).toBe(0);
    expect(ended.tookMs).toBeLessThan(25_000);
    for (const channel of channels) await send(channel, to, `two from ${channel.id}`);
    const third = await startWorker('third');
    await second.end('SIGKILL');
    for (const channel of channels) await send(channel, to, `three from ${channel.id}`);
    expect((await textsOf(to)).sort()).toEqual(
      ['one', 'two', 'three'].flatMap((n) => channels.map(({ id }) => `${n} from ${id}`)).sort(),
    );
    expect(await overlaps()).toBe(0);
    for (const line of third.lines) expect(line).not.toMatch(/three from|privKey/);
    expect((await third.end('SIGTERM')).code).toBe(0);
  }, 180_000);

  it('answers 100 sends over 10 channels at once, each channel in the order of calls', async () => {
    const worker = await startWorker('crowd');
    const channels = await Promise.all(Array.from({ length: 10 }, (_, n) => newChannel(100 + n)));
    for (let n = 0; n < channels.length; n += 4) await Promise.all(channels.slice(n, n + 4).map(link));
    const to = await Promise.all(channels.map(friend));
    const answers: Promise<unknown>[] = [];
    for (let n = 0; n < 10; n++)
      channels.forEach((channel, c) => answers.push(send(channel, to[c] ?? '', `text ${n}`)));
    expect(await Promise.all(answers)).toHaveLength(100);
    const texts = Array.from({ length: 10 }, (_, n) => `text ${n}`);
    for (const phone of to) expect(await textsOf(phone)).toEqual(texts);
    expect(await overlaps()).toBe(0);
    // Another worker would take shards over from it, and a number that is being linked would have to be scanned again.
    await worker.end('SIGTERM');
  }, 180_000);

  it('has PostgreSQL plan each of its statements once per connection', async () => {
    const worker = await startWorker('w-plans');
    const planModes = await recordPlanModes(store.url, 'channels');
    await link(await newChannel(200));
    expect(await planModes('session-worker')).toEqual(['force_generic_plan']);
    await worker.end('SIGTERM');
  }, 60_000);
});
