/**
 * The stores of the drill's region, which a drill may lose and bring back at their addresses: a PostgreSQL server of its own, a Redis
 * and a bucket. The stack's own stores of that region stay unused; its global database is the stack's.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppSwitches, StoreAddresses } from '@dormouse/stack';
import {
  type ObjectStore,
  postgresDataFolder,
  type PostgresServer,
  ProcessRegister,
  type RedisServer,
  startObjectStore,
  startPostgres,
  startRedis,
} from '@dormouse/stack/store-servers';
import { migrate } from '@dormouse/database';
import pg from 'pg';

const DATABASE = 'dormouse_sg';
const BUCKET = 'dormouse';
const KEYS = { accessKeyId: 'drill', secretAccessKey: 'only-for-this-drill' };

export interface BucketPlace {
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface LostStoresOptions {
  /** Settings of PostgreSQL, made from the folder of everything, which its account may enter. */
  postgresSettings?: (folder: string) => Record<string, string>;
  /** PostgreSQL lies on a disk of its own of this size, in memory. */
  diskMb?: number;
}

/** This machine lets us mount nothing: not root, or a container without the right. */
export class MountRefused extends Error {}

export class LostStores {
  #postgres: PostgresServer;
  #isPostgresUp = true;
  #redis: RedisServer;
  #objects: ObjectStore;

  private constructor(
    readonly folder: string,
    private readonly register: ProcessRegister,
    private readonly made: { settings: Readonly<Record<string, string>>; hasDisk: boolean },
    [postgres, redis, objects]: [PostgresServer, RedisServer, ObjectStore],
  ) {
    this.#postgres = postgres;
    this.#redis = redis;
    this.#objects = objects;
    this.#watchPostgres();
  }

  /** Whether PostgreSQL runs. */
  get isPostgresUp(): boolean {
    return this.#isPostgresUp;
  }

  #watchPostgres(): void {
    const watched = this.#postgres;
    this.#isPostgresUp = true;
    void watched.exited.then(() => {
      if (this.#postgres === watched) this.#isPostgresUp = false;
    });
  }

  /** @throws {MountRefused} */
  static async start({ postgresSettings = () => ({}), diskMb }: LostStoresOptions = {}): Promise<LostStores> {
    const folder = await mkdtemp(join(tmpdir(), 'dormouse-drill-'));
    await chmod(folder, 0o711); // PostgreSQL's account enters it
    if (diskMb !== undefined) await mountDisk(join(folder, 'postgres'), diskMb);
    const register = await ProcessRegister.open(folder);
    const settings = postgresSettings(folder);
    const stores = new LostStores(folder, register, { settings, hasDisk: diskMb !== undefined }, [
      await startPostgres({ register, dir: join(folder, 'postgres'), durable: true, settings }),
      await startLostRedis(register, folder),
      await startBucket(join(folder, 'bucket'), 0),
    ]);
    await migrate(await stores.#postgres.ensureDatabase(DATABASE), 'regional');
    return stores;
  }

  get databaseUrl(): string {
    return this.#postgres.url(DATABASE);
  }

  /** Where the server's data lies. */
  get dataFolder(): string {
    return postgresDataFolder(join(this.folder, 'postgres'));
  }

  get bucket(): BucketPlace {
    return { endpoint: this.#objects.endpoint, bucket: BUCKET, ...KEYS };
  }

  /** The switches that lead the apps of a stack with one region to these stores. */
  switches(addresses: StoreAddresses): AppSwitches {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = this.bucket;
    const stores = { REGIONAL_DATABASE_URL: this.databaseUrl, REDIS_URL: this.#redis.url };
    const objects = {
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
    const region = {
      databaseUrl: this.databaseUrl,
      redisUrl: this.#redis.url,
      gatewayUrl: addresses.regions.sg.edgeUrl,
      storage: this.bucket,
    };
    return {
      'session-worker': { ...stores, ...objects },
      'edge-api': { ...stores, ...objects },
      'webhook-dispatcher': { ...stores, ...objects },
      'control-plane': { REGIONS: JSON.stringify({ sg: region }) },
    };
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Database and bucket are gone with all that was on their disks. */
  async losePostgresAndBucket(): Promise<void> {
    process.kill(this.#postgres.pid, 'SIGQUIT');
    await this.#postgres.exited;
    rmSync(this.dataFolder, { recursive: true, force: true });
    await this.#objects.stop();
    await rm(join(this.folder, 'bucket'), { recursive: true, force: true });
  }

  /** Starts the server on the data folder as it is now, at its former address. */
  async startPostgresAgain(): Promise<void> {
    const { port } = this.#postgres;
    this.#postgres = await startPostgres({
      register: this.register,
      dir: join(this.folder, 'postgres'),
      ports: [port],
      durable: true,
      settings: this.made.settings,
    });
    this.#watchPostgres();
    if (this.#postgres.port !== port) throw new Error(`the port ${port} of PostgreSQL is in use by somebody else`);
  }

  /** An empty bucket at the former address. */
  async startBucketAgain(): Promise<void> {
    this.#objects = await startBucket(join(this.folder, 'bucket'), this.#objects.port);
  }

  /** Redis is gone, and with it what was in it. */
  async loseRedis(): Promise<void> {
    process.kill(this.#redis.pid, 'SIGKILL');
    await this.#redis.exited;
  }

  /** An empty Redis at the former address. */
  async startRedisAgain(): Promise<void> {
    const { port } = this.#redis;
    this.#redis = await startLostRedis(this.register, this.folder, port);
    if (this.#redis.port !== port) throw new Error(`the port ${port} of Redis is in use by somebody else`);
  }

  /** A second bucket, for copies. */
  async openCopyBucket(): Promise<{ place: BucketPlace; close: () => Promise<void> }> {
    await mkdir(join(this.folder, 'copy'), { recursive: true });
    const store = await startBucket(join(this.folder, 'copy'), 0);
    return { place: { endpoint: store.endpoint, bucket: BUCKET, ...KEYS }, close: () => store.stop() };
  }

  async close(): Promise<void> {
    await Promise.all([this.#postgres.stop(), this.#redis.stop(), this.#objects.stop()]);
    rmSync(this.dataFolder, { recursive: true, force: true });
    this.register.close();
    if (this.made.hasDisk) spawnSync('umount', ['-l', join(this.folder, 'postgres')]);
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function mountDisk(folder: string, sizeMb: number): Promise<void> {
  await mkdir(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0711`, 'dormouse-drill', folder]);
  if (mounted.status !== 0)
    throw new MountRefused(`A disk cannot be mounted here: ${mounted.stderr?.toString().trim()}`);
}

function startLostRedis(register: ProcessRegister, folder: string, port?: number): Promise<RedisServer> {
  const log = (message: string): void => console.error(message);
  return startRedis({ register, dir: join(folder, 'redis'), ports: [port], log });
}

function startBucket(dir: string, port: number): Promise<ObjectStore> {
  return startObjectStore({ dir, port, buckets: [BUCKET], durable: false, ...KEYS });
}
