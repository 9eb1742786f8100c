import { openLog, Probes } from '@dormouse/bootstrap';
import { ChannelSeals } from '@dormouse/channel-directory';
import {
  openGlobalDatabase,
  openRegionalDatabase,
  type GlobalDatabase,
  type RegionalDatabase,
} from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { claimTestRedis, createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { MintedKey } from './accounts/account-key.js';
import { Accounts } from './accounts/accounts.js';
import { KeyUse } from './accounts/key-use.js';
import type { BillingAddress } from './billing/billing-client.js';
import { ChannelEntries } from './channels/channel-entries.js';
import { RegionDeliveries } from './channels/region-deliveries.js';
import { TokenRotations } from './channels/token-rotations.js';
import type { RegionAddress } from './config.js';
import { createApp } from './control-plane.js';
import type { ManagementLimits } from './management-limits.js';
import { hashOperatorKey, mintOperatorKey, OperatorKeys } from './operators/operator-keys.js';
import { Regions } from './regions/regions.js';
import type { StreamSettings } from './streams/channel-streams.js';
import type { SignInSettings } from './users/sign-in-settings.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** No server listens there: a region that is away. */
const AWAY = 'postgresql://nobody@127.0.0.1:9/away';
export const SHARD_COUNT = 4;
/** The key of the one operator, who is called ada. */
export const OPERATOR_KEY = mintOperatorKey();

/** Where people reach the control plane of a spec, as in its settings. */
export const PUBLIC_URL = 'http://dormouse.test';
const NO_LIMIT = { perAddress: 0, perNetwork: 0 };
export const SIGN_IN: SignInSettings = {
  publicUrl: PUBLIC_URL,
  secret: 'secret of the specs of the control plane',
  isSignUpOpen: true,
  hasMail: true,
  attempts: { signUps: NO_LIMIT, failedSignIns: NO_LIMIT, mails: NO_LIMIT },
};

/** A control plane for specs with databases of its own, one region (`sg`) that answers and one (`eu`) that is away. */
export class RunningControlPlane {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly database: GlobalDatabase,
    readonly regional: RegionalDatabase,
    readonly regions: Regions,
    readonly accounts: Accounts,
    readonly redisUrl: string,
    readonly logged: string[],
    /** Where the region keeps files. */
    readonly bucket: TestBucket,
    private readonly stores: TestStore[],
  ) {}

  static async open(
    changedLimits: Partial<ManagementLimits> = {},
    signIn: Partial<SignInSettings> = {},
    billing?: BillingAddress,
    streams?: StreamSettings,
  ): Promise<RunningControlPlane> {
    const [globalStore, regionalStore, redisStore, bucket] = await Promise.all([
      createTestDatabase('global'),
      createTestDatabase('regional'),
      claimTestRedis(),
      createTestBucket(),
    ]);
    const logged: string[] = [];
    const log = openLog({ name: 'control-plane', destination: { write: (line) => void logged.push(line) } });
    const redisUrl = redisStore.url;
    const addresses = new Map<Region, RegionAddress>([
      [
        'sg',
        {
          databaseUrl: regionalStore.url,
          redisUrl,
          storage: { linkTtlS: 86_400, place: bucket },
        },
      ],
      ['eu', { databaseUrl: AWAY, redisUrl }],
    ]);
    const database = openGlobalDatabase({ url: globalStore.url, applicationName: 'control-plane-spec' });
    const regional = openRegionalDatabase({ url: regionalStore.url, applicationName: 'control-plane-spec' });
    const seals = new ChannelSeals({ currentId: 'spec', keys: new Map([['spec', Buffer.alloc(32, 7)]]) });
    await regional.pool.query('INSERT INTO shard_leases (shard) SELECT generate_series(0, $1::int - 1)', [SHARD_COUNT]);
    const regions = new Regions(addresses, log, seals);
    const operators = new OperatorKeys(new Map([['ada', hashOperatorKey(OPERATOR_KEY)]]));
    const probes = new Probes({ app: 'control-plane', checks: {} });
    const limits = {
      perAccount: 0,
      badKeysPerAddress: 0,
      channelsPerAccount: 1_000,
      channelsPerHalfHour: 0,
      neverLinkedChannels: 0,
      ...changedLimits,
    };
    const site = { docsUrl: 'https://docs.test', supportAddress: 'help@test' };
    const services = { database, regions, operators, limits, signIn: { ...SIGN_IN, ...signIn }, billing, streams, log };
    const app = await createApp(services, { site, probes });
    await app.init();
    const stores = [globalStore, regionalStore, redisStore];
    const accounts = new Accounts(database);
    return new RunningControlPlane(app, database, regional, regions, accounts, redisUrl, logged, bucket, stores);
  }

  get globalDatabaseUrl(): string {
    return this.stores[0]?.url ?? '';
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.regions.close();
    await Promise.all([this.database.close(), this.regional.close()]);
    await Promise.all([...this.stores, this.bucket].map((store) => store.drop()));
  }

  async newAccount(): Promise<MintedKey> {
    return this.accounts.create('Spec');
  }

  /** Makes a request as the holder of a key. */
  async call(
    key: string | undefined,
    method: Method,
    path: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await this.app.inject({
      method,
      url: path,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { payload: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    });
    const body: unknown = response.payload === '' ? {} : JSON.parse(response.payload);
    return { status: response.statusCode, headers: response.headers, body: body as Answer['body'] };
  }

  /** Waits until the last uses of keys that were noticed are written. */
  async keyUseWritten(): Promise<void> {
    await this.app.get(KeyUse).close();
  }

  /** Runs now, and for entries of any age, what the process does every few seconds. */
  async settleNow(): Promise<void> {
    const log = openLog({ name: 'spec', level: 'silent' });
    const entries = new ChannelEntries(this.database);
    const rotations = new TokenRotations(this.database);
    const parts = { entries, rotations, regions: this.regions, log, creationsOlderThanMs: -1_000 };
    await new RegionDeliveries(parts).deliver('sg', this.regional);
  }
}
