/** What a session costs a request of the management API, and what sign-ins cost everybody else. */
import { ensureOwner, type Stack } from '@dormouse/stack';
import pg from 'pg';
import { Pool } from 'undici';
import { progress } from './bench-stack.js';
import { steadily, summarize, summarizeAll, type Pace, type Summary } from './latencies.js';

/** Each signs in once in two seconds. */
const USERS = 40;
const SIGN_INS: Pace = { perSecond: 20, seconds: 20 };
const OTHERS: Pace = { perSecond: 50, seconds: 20 };
const COMPARED = 1_000;
const WARMED = 200;
const CONNECTIONS = 64;
/** What others read meanwhile, in turn. */
const READS = ['/channels', '/account', '/account/keys', '/billing'];
const COMPARED_READ = '/channels';

export interface SignInFigures {
  byKey: Summary;
  bySession: Summary;
  signIns: Summary;
  others: Summary;
}

/** The management API over one pool of connections. */
class Management {
  readonly #pool: Pool;

  constructor(private readonly stack: Stack) {
    this.#pool = new Pool(stack.urls.controlPlane, { connections: CONNECTIONS });
  }

  async get(path: string, headers: Record<string, string>): Promise<void> {
    const response = await this.#pool.request({ method: 'GET', path: `/api/v1${path}`, headers });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode} ${text.slice(0, 200)}`);
  }

  /** @returns the cookie of the session */
  async signIn(email: string, password: string): Promise<string> {
    const response = await this.#pool.request({
      method: 'POST',
      path: '/api/v1/auth/sign-in',
      headers: { 'content-type': 'application/json', origin: this.stack.publicUrl },
      body: JSON.stringify({ email, password }),
    });
    const text = await response.body.text();
    const cookies = [response.headers['set-cookie'] ?? []].flat();
    if (response.statusCode !== 200 || cookies.length === 0) {
      throw new Error(`sign-in: ${response.statusCode} ${text.slice(0, 200)}`);
    }
    return cookies.map((cookie) => cookie.split(';')[0]).join('; ');
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

export async function measureSignIns(stack: Stack): Promise<SignInFigures> {
  progress(`making ${USERS} users`);
  const { password } = stack.installation.facts.user;
  const addresses = await makeUsers(stack);
  const management = new Management(stack);
  try {
    const key = { authorization: `Bearer ${stack.accountKey}` };
    const cookie = { cookie: await management.signIn(addresses[0] ?? '', password) };
    progress('the same request by key and by session, in turns');
    const compared = await compare(management, key, cookie);
    progress(`${SIGN_INS.perSecond} sign-ins a second`);
    const [signIns, others] = await Promise.all([
      steadily(async (index) => {
        await management.signIn(addresses[index % addresses.length] ?? '', password);
      }, SIGN_INS),
      steadily((index) => management.get(READS[index % READS.length] ?? '', key), OTHERS),
    ]);
    return { ...compared, signIns: summarizeAll([signIns]), others: summarizeAll([others]) };
  } finally {
    await management.close();
  }
}

/** One request at a time, by each in turns, so that both meet the same machine. */
async function compare(
  management: Management,
  key: Record<string, string>,
  cookie: Record<string, string>,
): Promise<Pick<SignInFigures, 'byKey' | 'bySession'>> {
  const timed = async (headers: Record<string, string>): Promise<number> => {
    const startedAt = performance.now();
    await management.get(COMPARED_READ, headers);
    return performance.now() - startedAt;
  };
  const byKey: number[] = [];
  const bySession: number[] = [];
  for (let turn = -WARMED; turn < COMPARED; turn += 1) {
    const [one, other] = [await timed(key), await timed(cookie)];
    if (turn < 0) continue;
    byKey.push(one);
    bySession.push(other);
  }
  const sum = (latenciesMs: readonly number[]): number => latenciesMs.reduce((total, each) => total + each, 0);
  return { byKey: summarize(byKey, sum(byKey)), bySession: summarize(bySession, sum(bySession)) };
}

/** Owners of the first account, all with one password. @returns their addresses */
async function makeUsers({ databases, installation }: Stack): Promise<string[]> {
  const { accountId, user } = installation.facts;
  await ensureOwner(databases.global, { ...user, accountId });
  const connection = new pg.Client({ connectionString: databases.global });
  await connection.connect();
  try {
    await connection.query(
      `INSERT INTO users (id, name, email, email_verified)
       SELECT 'bench-' || n, 'Bench', 'user' || n || '@bench.example', true FROM generate_series(1, $1::int) n`,
      [USERS],
    );
    await connection.query(
      `INSERT INTO user_credentials (id, user_id, provider_id, account_id, password)
       SELECT u.id, u.id, 'credential', u.id, c.password
       FROM users u, users o JOIN user_credentials c ON c.user_id = o.id
       WHERE u.id LIKE 'bench-%' AND o.email = $1 AND c.provider_id = 'credential'`,
      [user.email],
    );
    await connection.query(
      `INSERT INTO memberships (account_id, user_id, role)
       SELECT $1, id, 'owner' FROM users WHERE id LIKE 'bench-%'`,
      [accountId],
    );
  } finally {
    await connection.end();
  }
  return Array.from({ length: USERS }, (_, index) => `user${index + 1}@bench.example`);
}
