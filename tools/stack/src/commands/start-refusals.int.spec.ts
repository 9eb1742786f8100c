import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AppName, Simulation } from '../app-names.js';
import { ProcessRegister } from '../processes/process-register.js';
import { withConnection } from '../stores/postgres.js';
import { type RedisServer, startRedis } from '../stores/redis.js';
import { redisLines } from '../stores/redis-wire.js';
import { builtApp } from '../testing/built-app.js';
import { claimTestRedis, createTestDatabase, type TestStore } from '../testing/test-stores.js';

type Server = Exclude<AppName, Simulation>;
type Variables = Record<string, string>;

const SHARDS = 4;
const key = (fill: number): string => Buffer.alloc(32, fill).toString('base64');

describe('a server', () => {
  let regional: TestStore;
  let global: TestStore;
  let redis: TestStore;
  let folder: string;
  let register: ProcessRegister;
  let evicting: RedisServer;

  /** The variables that it starts with. */
  const rightFor = (app: Server): Variables => {
    const settings = { SETTINGS_MASTER_KEY: key(7), SETTINGS_MASTER_KEY_ID: 's1', HOST: '127.0.0.1', PROBE_PORT: '0' };
    if (app === 'control-plane') {
      const sg = { databaseUrl: regional.url, redisUrl: redis.url };
      const stores = { GLOBAL_DATABASE_URL: global.url, REDIS_URL: redis.url };
      return { ...settings, ...stores, PORT: '0', REGIONS: JSON.stringify({ sg }) };
    }
    if (app === 'billing') {
      const stores = { GLOBAL_DATABASE_URL: global.url, REDIS_URL: redis.url, BILLING_SECRET: 'b'.repeat(32) };
      const regions = JSON.stringify({ sg: { databaseUrl: regional.url } });
      return { ...stores, HOST: '127.0.0.1', PORT: '0', PROBE_PORT: '0', REGIONS: regions };
    }
    const stores = {
      REGIONAL_DATABASE_URL: regional.url,
      REDIS_URL: redis.url,
      S3_BUCKET: 'b',
      S3_ENDPOINT: 'http://127.0.0.1:9',
    };
    const own: Record<typeof app, Variables> = {
      'edge-api': { PORT: '0' },
      'session-worker': { MASTER_KEY: key(1), MASTER_KEY_ID: 'k1' },
      'webhook-dispatcher': {},
    };
    return { REGION: 'sg', ...settings, ...stores, ...own[app] };
  };

  /** Starts it and waits for its end; one that runs is ended. */
  const run = async (app: Server, wrong: Variables): Promise<{ code: unknown; output: string }> => {
    const { entry, nodeVariables } = builtApp(app);
    const env = { PATH: process.env.PATH, ...nodeVariables, ...rightFor(app), ...wrong };
    const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let isUp = false;
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (isUp || !output.includes('"listening"')) return;
      isUp = true;
      child.kill('SIGTERM'); // once: a second one would not wait
    });
    const [[code], errors] = await Promise.all([once(child, 'exit') as Promise<[unknown]>, text(child.stderr)]);
    return { code, output: output + errors };
  };

  beforeAll(async () => {
    [regional, global, redis] = await Promise.all([
      createTestDatabase('regional'),
      createTestDatabase('global'),
      claimTestRedis(),
    ]);
    folder = mkdtempSync(join(tmpdir(), 'start-refusals-'));
    register = await ProcessRegister.open(folder);
    evicting = await startRedis({ register, dir: join(folder, 'redis'), log: () => undefined });
    expect(await redisLines(evicting.url, ['CONFIG SET maxmemory-policy allkeys-lru'])).toEqual(['+OK']);
    await withConnection(regional.url, async (connection) => {
      await connection.query("INSERT INTO region (name) VALUES ('sg')");
      await connection.query('INSERT INTO shard_leases (shard) SELECT generate_series(0, $1::int - 1)', [SHARDS]);
    });
  });
  afterAll(async () => {
    await Promise.all([regional, global, redis].map((store) => store.drop()));
    await evicting.stop();
    register.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const servers: Server[] = ['edge-api', 'session-worker', 'webhook-dispatcher', 'control-plane', 'billing'];

  it.each(servers)(
    'starts with what belongs together, and not on the database of another region (%s)',
    async (app) => {
      const entry = { databaseUrl: regional.url, redisUrl: redis.url };
      const reachesAll = app === 'control-plane' || app === 'billing';
      const wrong: Variables = reachesAll ? { REGIONS: JSON.stringify({ eu: entry }) } : { REGION: 'eu' };
      const [right, refused] = await Promise.all([run(app, {}), run(app, wrong)]);
      expect([right.code, right.output.includes('"listening"')]).toEqual([0, true]);
      expect([refused.code, refused.output.includes('"listening"')]).toEqual([1, false]);
      expect(refused.output).toContain(
        'the regional database is that of region sg, and this process is configured for eu',
      );
    },
    60_000,
  );

  const half = { S3_ACCESS_KEY_ID: 'a' };
  // What else the configuration of a server refuses: its config.spec.ts.
  it.each<[string, Server, () => Variables, string]>([
    ['one half of the keys for S3', 'edge-api', () => half, 'S3_ACCESS_KEY_ID: given without S3_SECRET_ACCESS_KEY'],
    ['a Redis that evicts', 'edge-api', () => ({ REDIS_URL: evicting.url }), 'the Redis of region sg evicts keys'],
    [
      'a Redis that evicts',
      'session-worker',
      () => ({ REDIS_URL: evicting.url }),
      'the Redis of region sg evicts keys',
    ],
    [
      'a Redis that evicts',
      'webhook-dispatcher',
      () => ({ REDIS_URL: evicting.url }),
      'the Redis of region sg evicts keys',
    ],
    ['a Redis that evicts', 'control-plane', () => ({ REDIS_URL: evicting.url }), 'the Redis of REDIS_URL evicts keys'],
    ['a Redis that evicts', 'billing', () => ({ REDIS_URL: evicting.url }), 'the Redis of REDIS_URL evicts keys'],
    [
      'another key by the same id',
      'edge-api',
      () => ({ SETTINGS_MASTER_KEY: key(8) }),
      'goes by the id \\"s1\\" is not',
    ],
  ])(
    'does not start with %s (%s), and logs why',
    async (_what, app, wrong, sentence) => {
      const { code, output } = await run(app, wrong());
      expect([code, output.includes('"listening"')]).toEqual([1, false]);
      expect(output).toContain(sentence);
    },
    60_000,
  );
});
