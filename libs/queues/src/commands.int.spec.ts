import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError, toErrorReply, type CommandInput } from '@dormouse/gateway-contract';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { CommandClient } from './command-client.js';
import type { CommandReply } from './command-job.js';
import { JobFetcher } from './job-fetcher.js';
import { openCommandWorker, type CommandWorker, type ReceivedCommand } from './command-worker.js';
import { commandQueueName } from './names.js';

jest.setTimeout(30_000);

const redisUrl = process.env.TEST_REDIS_URL ?? '';
const projectFolder = dirname(fileURLToPath(new URL('.', import.meta.url)));
const text = (body: string): CommandInput<'messages.sendText'> => ({ to: '15550001111', body });
const answered = (result: unknown): Promise<CommandReply> => Promise.resolve({ ok: true, result });

/** Resolves with the first `count` values given to `push`. */
function collector<T>(count: number) {
  const values: T[] = [];
  let done: (values: T[]) => void;
  const all = new Promise<T[]>((resolve) => (done = resolve));
  return { all, values, push: (value: T) => values.push(value) === count && done(values) };
}

describe('commands', () => {
  let redis: Redis;
  let client: CommandClient;
  let shard: number;
  const closing: { close(): Promise<void> }[] = [];
  const errors: unknown[] = [];

  const channel = (id = 'CH-1') => ({ id, shard });
  const work = (
    handle: (command: ReceivedCommand) => Promise<CommandReply>,
    options: { concurrency?: number; lockMs?: number } = {},
  ): CommandWorker => {
    const settings = { redisUrl, shard, concurrency: 16, handle, onError: (error: unknown) => errors.push(error) };
    const worker = openCommandWorker({ ...settings, ...options });
    closing.push(worker);
    return worker;
  };
  const newClient = async (url = redisUrl) => {
    const made = new CommandClient({ redisUrl: url });
    closing.push(made);
    await made.start();
    return made;
  };
  /** A call whose worker, a process of its own, was killed while it held the command. */
  const callOfKilledWorker = async (lockMs: number) => {
    const script = `
      import { openCommandWorker } from '@dormouse/queues';
      const settings = JSON.parse(process.argv[1]);
      const handle = () => (process.stdout.write('taken'), new Promise(() => undefined));
      openCommandWorker({ ...settings, concurrency: 4, handle, onError: console.error });`;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', script, JSON.stringify({ redisUrl, shard, lockMs })],
      { cwd: projectFolder, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const answer = client.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    answer.catch(() => undefined);
    await once(child.stdout, 'data');
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    return { answer };
  };
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };
  const queueKey = (type: string) => `bull:commands.${shard}:${type}`;

  beforeAll(() => {
    redis = openRedis({ url: redisUrl, name: 'spec' });
  });
  afterAll(() => closeRedis(redis));
  beforeEach(async () => {
    shard = randomInt(1_000_000, 2_000_000_000);
    errors.length = 0;
    client = await newClient();
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((one) => one.close()));
    const keys = await redis.keys(queueKey('*'));
    if (keys.length > 0) await redis.del(keys);
  });

  it('answers a call with the result of the handler, and leaves nothing in Redis', async () => {
    const seen: ReceivedCommand[] = [];
    work((command) => (seen.push(command), answered({ success: true })));
    expect(await client.call(channel(), 'channel.logout', {}, { requestId: 'r1' })).toEqual({ success: true });
    expect(seen).toMatchObject([{ channelId: 'CH-1', name: 'channel.logout', input: {}, requestId: 'r1' }]);
    await until(async () => (await redis.llen(queueKey('active'))) === 0);
    expect(await redis.keys(queueKey('[0-9]*'))).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('rejects a call with the same error that the handler returns', async () => {
    const error = toErrorReply(new GatewayError(404, { details: 'to: not in this group', retryAfterS: 9 }));
    work(() => Promise.resolve({ ok: false, error }));
    const call = client.call(channel(), 'messages.sendText', text('x'), { requestId: 'r' });
    await expect(call).rejects.toMatchObject({ status: 404, details: 'to: not in this group', retryAfterS: 9 });
  });

  it('answers 502 and reports the error when a handler throws', async () => {
    work(() => Promise.reject(new Error('boom')));
    const call = client.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    await expect(call).rejects.toMatchObject({ status: 502 });
    expect(errors).toMatchObject([{ message: 'boom' }]);
  });

  it('starts commands in the order of the calls, whatever order they finish in', async () => {
    const count = 400;
    const started = collector<string>(count);
    const orders: number[] = [];
    work(async ({ input, order }) => {
      orders.push(order);
      started.push((input as { body: string }).body);
      if (order % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      return answered(null);
    });
    const bodies = Array.from({ length: count }, (_, index) => `message ${index}`);
    const calls = bodies.map((body) => client.call(channel(), 'messages.sendText', text(body), { requestId: 'r' }));
    await Promise.all(calls);
    expect(await started.all).toEqual(bodies);
    expect(orders).toEqual([...orders].sort((a, b) => a - b));
  });

  it('gives each of two callers its own answers', async () => {
    const other = await newClient();
    work(({ input }) => answered((input as { body: string }).body));
    const ask = async (asker: CommandClient, name: string) =>
      Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const body = `${name} ${index}`;
          const answer: unknown = await asker.call(channel(), 'messages.sendText', text(body), { requestId: 'r' });
          return answer === body;
        }),
      );
    const matches = await Promise.all([ask(client, 'a'), ask(other, 'b')]);
    expect(matches.flat().every(Boolean)).toBe(true);
  });

  it('answers 503 at the start deadline when no worker takes the command, and no later worker ever runs it', async () => {
    const call = client.call(channel(), 'channel.logout', {}, { requestId: 'r', startWithinMs: 50 });
    await expect(call).rejects.toMatchObject({ status: 503, retryAfterS: 3 });
    const names: string[] = [];
    work(({ name }) => (names.push(name), answered({ success: true })));
    await client.call(channel(), 'channel.delete', {}, { requestId: 'r' });
    expect(names).toEqual(['channel.delete']);
  });

  it('never runs a command whose caller gave up before a worker took it; one that was taken goes on to its answer', async () => {
    const given = new AbortController();
    const left = client.call(channel(), 'channel.logout', {}, { requestId: 'r', gaveUp: given.signal });
    await until(async () => (await redis.llen(queueKey('wait'))) === 1);
    given.abort();
    await expect(left).rejects.toMatchObject({ status: 503 });
    const late = new AbortController();
    const names: string[] = [];
    work(({ name }) => (names.push(name), late.abort(), answered({ success: true })));
    const taken = client.call(channel(), 'channel.delete', {}, { requestId: 'r', gaveUp: late.signal });
    expect(await taken).toEqual({ success: true });
    const gone = client.call(channel(), 'channel.logout', {}, { requestId: 'r', gaveUp: given.signal });
    await expect(gone).rejects.toMatchObject({ status: 503 });
    expect(names).toEqual(['channel.delete']);
  });

  it('answers 502 at the answer deadline when the command had started', async () => {
    let finish: (reply: CommandReply) => void = () => undefined;
    work(() => new Promise((resolve) => (finish = resolve)));
    const options = { requestId: 'r', startWithinMs: 1_500, answerWithinMs: 2_000 };
    const call = client.call(channel(), 'channel.logout', {}, options);
    await expect(call).rejects.toMatchObject({ status: 502, details: 'no answer in time: the outcome is not known' });
    finish({ ok: true, result: null });
  });

  it('answers 502, not 503, when the command finished but its answer was lost', async () => {
    const cutOff = new CommandClient({ redisUrl });
    closing.push(cutOff);
    await cutOff.start();
    work(async () => {
      const clients = String(await redis.call('CLIENT', 'LIST'));
      const line = clients.split('\n').find((each) => each.includes(`name=commands:replies.${cutOff.clientId} `));
      await redis.call('CLIENT', 'KILL', 'ID', String(/^id=(\d+)/.exec(line ?? '')?.[1]));
      return answered({ success: true });
    });
    const options = { requestId: 'r', startWithinMs: 1_500, answerWithinMs: 2_500 };
    await expect(cutOff.call(channel(), 'channel.logout', {}, options)).rejects.toMatchObject({ status: 502 });
  });

  it('answers 502 after an outage when the command finished meanwhile; commands that still run are waited for', async () => {
    const proxy = await FaultProxy.to(redisUrl);
    const caller = await newClient(proxy.url);
    const finish = new Map<string, () => void>();
    let settled: () => void = () => undefined;
    const settling = new Promise<void>((resolve) => (settled = resolve));
    work(({ channelId, afterAnswer }) => {
      if (channelId === 'answered') afterAnswer(() => settling);
      return new Promise((resolve) => finish.set(channelId, () => resolve(answered({ success: true }))));
    });
    const options = { requestId: 'r', answerWithinMs: 300_000 };
    const call = (id: string) => {
      const outcome = caller.call({ ...channel(), id }, 'channel.logout', {}, options);
      outcome.catch(() => undefined);
      return outcome;
    };
    const calls = { finished: call('finished'), answered: call('answered'), running: call('running') };
    await until(() => Promise.resolve(finish.size === 3));
    await proxy.close();
    finish.get('finished')?.();
    finish.get('answered')?.();
    await until(async () => (await redis.llen(queueKey('active'))) === 2);
    await proxy.reopen();
    const missed = { status: 502, details: 'no answer in time: the outcome is not known' };
    await expect(calls.finished).rejects.toMatchObject(missed);
    settled(); // its answer was given before, its job is finished only now
    await expect(calls.answered).rejects.toMatchObject(missed);
    finish.get('running')?.();
    expect(await calls.running).toEqual({ success: true });
    await caller.close();
    await proxy.close();
  });

  it('rejects a command that reaches the worker too late', async () => {
    let handled = 0;
    const late = client.call(channel(), 'channel.logout', {}, { requestId: 'r', startWithinMs: 0 });
    await until(async () => (await redis.llen(queueKey('wait'))) === 1);
    work(() => (handled++, answered({ success: true })));
    await expect(late).rejects.toMatchObject({ status: 503 });
    expect(handled).toBe(0);
  });

  it('answers 502 from the next owner at once when a worker was killed in the middle', async () => {
    // Its lock lasts longer than this spec.
    const lockMs = 600_000;
    const call = await callOfKilledWorker(lockMs);
    let handled = 0;
    work(() => (handled++, answered({ success: true })), { lockMs });
    await expect(call.answer).rejects.toMatchObject({ status: 502 });
    expect(handled).toBe(0);
  });

  it('never runs the command of a killed worker again: the stall check fails it', async () => {
    await callOfKilledWorker(1_000);
    const names: string[] = [];
    work(({ name }) => (names.push(name), answered({ success: true })), { lockMs: 1_000 });
    await until(async () => (await redis.llen(queueKey('active'))) === 0 && (await redis.llen(queueKey('wait'))) === 0);
    await client.call(channel(), 'channel.delete', {}, { requestId: 'r' });
    expect(names).toEqual(['channel.delete']);
    // The last job leaves a moment after its answer.
    await until(async () => (await redis.keys(queueKey('[0-9]*'))).length === 0);
  });

  it('answers before the work that may follow the answer, and closes after it', async () => {
    let finish: () => void = () => undefined;
    let closed = false;
    const worker = work(({ afterAnswer }) => {
      afterAnswer(() => new Promise<void>((resolve) => (finish = resolve)));
      return answered({ success: true });
    });
    expect(await client.call(channel(), 'channel.logout', {}, { requestId: 'r' })).toEqual({ success: true });
    expect(await redis.llen(queueKey('active'))).toBe(1);
    const closing = worker.close().then(() => (closed = true));
    await until(async () => (await redis.ping()) === 'PONG' && !closed);
    finish();
    await closing;
    expect(await redis.llen(queueKey('active'))).toBe(0);
  });

  it('runs two scripts in Redis for each command: to fetch it and to finish it', async () => {
    let scripts = 0;
    const proxy = await FaultProxy.to(redisUrl, () => ({
      request: (bytes) => {
        scripts += bytes.toString('latin1').split('evalsha').length - 1;
        return bytes;
      },
    }));
    const settings = { redisUrl: proxy.url, shard, concurrency: 16, onError: (error: unknown) => errors.push(error) };
    const worker = openCommandWorker({ ...settings, handle: () => answered({ success: true }) });
    const call = () => client.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    await call();
    const [before, beganAt] = [scripts, Date.now()];
    for (let calls = 0; calls < 100; calls += 1) await call();
    await until(async () => (await redis.llen(queueKey('active'))) === 0);
    const commandScripts = scripts - before;
    const idleFetches = 2 + Math.ceil((Date.now() - beganAt) / 1_000); // one a second where nothing comes, and its check
    expect(commandScripts).toBeGreaterThan(190);
    expect(commandScripts).toBeLessThanOrEqual(200 + idleFetches);
    await worker.close();
    await proxy.close();
  });

  it('keeps the lock of a command that takes longer than the lock lasts', async () => {
    let handled = 0;
    const slow = () =>
      new Promise<CommandReply>((resolve) => setTimeout(() => resolve({ ok: true, result: 7 }), 1_500));
    work(() => (handled++, slow()), { lockMs: 600 });
    expect(await client.call(channel(), 'channel.logout', {}, { requestId: 'r' })).toBe(7);
    expect(handled).toBe(1);
    expect(errors).toEqual([]);
  });

  it('waits for the commands that run before it closes, and receives no more', async () => {
    let finish: (reply: CommandReply) => void = () => undefined;
    const taken = collector<string>(1);
    const worker = work(({ name }) => (taken.push(name), new Promise((resolve) => (finish = resolve))), {
      concurrency: 1,
    });
    const first = client.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    await taken.all;
    const closed = worker.close();
    const second = client.call(channel(), 'channel.delete', {}, { requestId: 'r', startWithinMs: 300 });
    finish({ ok: true, result: { success: true } });
    await closed;
    expect(await first).toEqual({ success: true });
    await expect(second).rejects.toMatchObject({ status: 503 });
    expect(taken.values).toEqual(['channel.logout']);
  });

  it('answers 503 at once while Redis is away, and works again when it is back', async () => {
    const proxy = await FaultProxy.to(redisUrl);
    const behind = await newClient(proxy.url);
    work(() => answered({ success: true }));
    const call = () => behind.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    expect(await call()).toEqual({ success: true });
    await proxy.close();
    await until(() => Promise.resolve(!behind.isReady()));
    await expect(call()).rejects.toMatchObject({ status: 503, details: 'the command queue is not reachable' });
    await proxy.reopen();
    await until(() => Promise.resolve(behind.isReady()));
    expect(await call()).toEqual({ success: true });
    await behind.close();
    await proxy.close();
  });

  it('fetches commands again after its connection stopped answering', async () => {
    const proxy = await FaultProxy.to(redisUrl);
    const queueName = commandQueueName(shard);
    const onError = (error: unknown) => errors.push(error);
    const fetcher = new JobFetcher({ redisUrl: proxy.url, queueName, lockMs: 10_000, silentAfterMs: 500, onError });
    expect(await fetcher.next(4)).toEqual([]); // connected
    proxy.loseAnswers('open connections');
    await fetcher.next(4); // ends on a new connection
    void client.call(channel(), 'channel.logout', {}, { requestId: 'r' }).catch(() => undefined);
    let taken = await fetcher.next(4);
    while (taken.length === 0) taken = await fetcher.next(4);
    expect(taken.map(({ name }) => name)).toEqual(['channel.logout']);
    expect(errors).toEqual([]);
    fetcher.stop(redis);
    await fetcher.close(false);
    await proxy.close();
  });

  it('stops waiting for a command when it is stopped', async () => {
    const queueName = commandQueueName(shard);
    const onError = (error: unknown) => errors.push(error);
    const fetcher = new JobFetcher({ redisUrl, queueName, lockMs: 10_000, waitS: 120, onError });
    expect(await fetcher.next(4)).toEqual([]); // the first fetch does not wait
    const waiting = fetcher.next(4);
    const isBlocked = new RegExp(`name=${queueName}:fetches .*flags=b`);
    await until(async () => isBlocked.test(String(await redis.call('CLIENT', 'LIST'))));
    fetcher.stop(redis);
    expect(await waiting).toEqual([]);
    await fetcher.close(false);
    expect(errors).toEqual([]);
  });

  it('does not add a command twice when the connection drops before Redis has confirmed it', async () => {
    const proxy = await FaultProxy.to(redisUrl);
    const behind = await newClient(proxy.url);
    let handled = 0;
    work(() => (handled++, answered({ success: true })));
    const call = () => behind.call(channel(), 'channel.logout', {}, { requestId: 'r' });
    await call();
    proxy.loseAnswers('all');
    const outcomes = Promise.allSettled(Array.from({ length: 20 }, call));
    await until(() => Promise.resolve(handled === 21));
    await proxy.close();
    await proxy.reopen();
    await until(() => Promise.resolve(behind.isReady()));
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { status: 502 } });
    await client.call(channel(), 'channel.delete', {}, { requestId: 'r' });
    expect(handled).toBe(22);
    await behind.close();
    await proxy.close();
  });
});
