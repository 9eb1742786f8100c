import { randomBytes, randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '@dormouse/bootstrap';
import { hashToken, mintToken } from '@dormouse/channel-token';
import { ChannelDirectory, ChannelSeals, type Standing } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { ChannelSettings, ErrorEnvelope, SessionState } from '@dormouse/gateway-contract';
import { openCommandWorker, type CommandReply, type CommandWorker, type ReceivedCommand } from '@dormouse/queues';
import { edgeConfig } from './config.js';
import { openEdge } from './edge.js';

/** A channel made for a spec, with its token. */
export interface TestChannel {
  id: string;
  token: string;
  shard: number;
}

export interface TestChannelState {
  standing?: Standing;
  linked?: boolean;
  state?: SessionState;
  settings?: Partial<ChannelSettings>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: unknown;
  /** The error of the envelope. */
  error: ErrorEnvelope['error'];
}

export interface Question {
  token?: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON, text as it is. */
  body?: unknown;
}

/** The same for all that share a database. */
const SETTINGS_KEY = Buffer.alloc(32, 7);

/** The switches of an edge on free ports over the test stores. */
export function testSwitches(): Record<string, string | undefined> {
  return {
    REGION: 'sg',
    PORT: '0',
    PROBE_PORT: '0',
    HOST: '127.0.0.1',
    DOCS_URL: 'https://docs.example.com/',
    REGIONAL_DATABASE_URL: process.env.TEST_REGIONAL_DATABASE_URL,
    REDIS_URL: process.env.TEST_REDIS_URL,
    SETTINGS_MASTER_KEY: SETTINGS_KEY.toString('base64'),
    SETTINGS_MASTER_KEY_ID: 'spec',
    S3_BUCKET: 'none',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    SPOOL_DIRECTORY: join(tmpdir(), 'dormouse-edge-spec'),
  };
}

/** An edge on a free port over the test stores, with what a spec needs to put it to work. */
export class RunningEdge {
  private readonly workers: CommandWorker[] = [];
  /** The channels as another process sees them, always read anew. */
  readonly directory: ChannelDirectory;

  private constructor(
    readonly url: string,
    /** Where it answers probes and metrics. */
    readonly probesUrl: string,
    readonly database: RegionalDatabase,
    /** What was logged, one JSON line each. */
    readonly logged: string[],
    private readonly drain: () => Promise<void>,
  ) {
    const seals = new ChannelSeals({ currentId: 'spec', keys: new Map([['spec', SETTINGS_KEY]]) });
    this.directory = new ChannelDirectory({ database, seals, cacheMs: 0 });
  }

  /** @param databaseUrl where its channels are made, also when its own switches name a database that is away */
  static async start(
    environment: Record<string, string> = {},
    databaseUrl = process.env.TEST_REGIONAL_DATABASE_URL ?? '',
  ): Promise<RunningEdge> {
    const config = edgeConfig({ ...testSwitches(), ...environment });
    const logged: string[] = [];
    const log = openLog({ name: 'edge-api', destination: { write: (line: string) => void logged.push(line) } });
    const edge = await openEdge(config, log);
    const database = openRegionalDatabase({ url: databaseUrl, applicationName: 'edge-spec' });
    return new RunningEdge(edge.url, edge.probesUrl, database, logged, () => edge.drain());
  }

  async ready(): Promise<void> {
    while ((await fetch(`${this.probesUrl}/readyz`)).status !== 200)
      await new Promise((resolve) => setImmediate(resolve));
  }

  async stop(): Promise<void> {
    await Promise.all([this.drain(), ...this.workers.splice(0).map((worker) => worker.close())]);
    await this.database.close();
  }

  async channel({ standing = 'good', linked = true, state, settings }: TestChannelState = {}): Promise<TestChannel> {
    const token = mintToken('sg');
    const id = `CH-${randomBytes(6).toString('hex')}`;
    // Of its own, far from what other specs use: its queue is its alone.
    const shard = randomInt(1_000_000, 2_000_000_000);
    const { directory } = this;
    await directory.create({ id, accountId: 'account', name: 'Shop', tokenHash: hashToken(token), shard });
    if (settings) await directory.updateSettings(id, settings);
    await this.database.prisma.channel.update({
      where: { id },
      data: {
        standing,
        linked,
        sessionState: state ?? (linked ? 'open' : 'closed'),
        ...(linked ? { phone: '15550009999', deviceId: 7, pushName: 'Example Shop' } : {}),
      },
    });
    return { id, token, shard };
  }

  /** A worker that answers the channel's commands with the spec's function. */
  worker(
    channel: TestChannel,
    handle: (command: ReceivedCommand) => Promise<CommandReply> | CommandReply,
  ): CommandWorker {
    const worker = openCommandWorker({
      redisUrl: process.env.TEST_REDIS_URL ?? '',
      shard: channel.shard,
      concurrency: 16,
      handle: async (command) => handle(command),
      onError: (error) => this.logged.push(String(error)),
    });
    this.workers.push(worker);
    return worker;
  }

  async ask(route: string, { token, headers = {}, body }: Question = {}): Promise<Answer> {
    const [method, path] = route.split(' ');
    const json = body !== undefined && typeof body !== 'string';
    const response = await fetch(`${this.url}${path ?? ''}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body: json ? JSON.stringify(body) : body,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    const parsed: unknown = isJson ? JSON.parse(text) : undefined;
    const { error } = (parsed ?? {}) as ErrorEnvelope;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: parsed,
      error,
    };
  }
}
