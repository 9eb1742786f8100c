import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { clientOf, openEndpoint } from './testing/test-bed.js';

/** The program as it is built: it is a process of its own. */
const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');

describe('the simulated Stripe as a process', () => {
  let dataDir: string;
  const running: ChildProcess[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'stripe-main-'));
  });
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  const spawnIt = (env: Record<string, string>): ChildProcess => {
    const { NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [MAIN], {
      env: { NODE_COMPILE_CACHE, DATA_DIR: dataDir, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    running.push(child);
    return child;
  };
  const start = async (env: Record<string, string> = {}) => {
    const child = spawnIt(env);
    if (!child.stdout) throw new Error('The process has no standard output.');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url, secretKey } = JSON.parse(line) as { url: string; secretKey: string };
    return { child, url, stripe: clientOf(url, secretKey) };
  };
  const killed = async (child: ChildProcess) => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };

  it('prints its address and its key on one line, and answers for its health', async () => {
    const { url, stripe } = await start({ SECRET_KEY: 'sk_test_ofmyown' });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await stripe.customers.list()).data).toEqual([]);
  });

  it('killed at any moment has all that it answered, answers under the same keys, and sends what it had not sent', async () => {
    const endpoint = await openEndpoint();
    const first = await start();
    await first.stripe.webhookEndpoints.create({ url: endpoint.url, enabled_events: ['customer.created'] });
    const hold = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"mode":"hold"}' };
    await fetch(`${first.url}/_simulator/webhooks`, hold);
    const made = await first.stripe.customers.create({ name: 'Kept' }, { idempotencyKey: 'k' });
    await killed(first.child);
    // A request that was being written when the power went.
    await appendFile(join(dataDir, 'journal.jsonl'), '[["customers","cus_torn",{"id":"cus_t');
    const again = await start();
    expect(await again.stripe.customers.retrieve(made.id)).toMatchObject({ name: 'Kept' });
    expect((await again.stripe.customers.create({ name: 'Kept' }, { idempotencyKey: 'k' })).id).toBe(made.id);
    expect((await again.stripe.customers.list()).data).toHaveLength(1);
    await fetch(`${again.url}/_simulator/webhooks/release`, { ...hold, method: 'POST', body: '{}' });
    await endpoint.until(() => endpoint.received.length === 1);
    await endpoint.close();
  });

  it('goes on with a time that was moved, and catches up with what fell due', async () => {
    const first = await start();
    const body = JSON.stringify({ advanceSeconds: 86_400 });
    const moved = await fetch(`${first.url}/_simulator/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { now } = (await moved.json()) as { now: number };
    await killed(first.child);
    const again = await start();
    expect((await again.stripe.customers.create({})).created).toBeGreaterThanOrEqual(now);
  });

  it('ends at SIGTERM and with its standard input', async () => {
    const { child } = await start();
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    const other = await start({ END_WITH_INPUT: 'true' });
    const otherExit = once(other.child, 'exit');
    other.child.stdin?.end();
    expect(await otherExit).toEqual([0, null]);
  });

  it.each([
    [{ SECRET_KEY: 'pk_test_1' }, 'SECRET_KEY'],
    [{ WEBHOOK_URL: 'http://127.0.0.1:1/' }, 'WEBHOOK_SECRET'],
  ])('does not start with %j, and names what is wrong', async (env, name) => {
    const child = spawnIt(env);
    if (!child.stderr) throw new Error('The process has no standard error.');
    const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
    expect(code).not.toBe(0);
    expect(words).toContain(name);
  });
});
