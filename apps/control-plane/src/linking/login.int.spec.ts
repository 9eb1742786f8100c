import { ChannelDirectory } from '@dormouse/channel-directory';
import { loginStep, OPERATIONS, type LoginStep } from '@dormouse/management-contract';
import {
  CommandClient,
  openCommandWorker,
  publishEventsReady,
  readQueueFigures,
  type CommandReply,
} from '@dormouse/queues';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { SpecUser } from '../accounts/test-members.js';
import { RunningControlPlane } from '../test-control-plane.js';

jest.setTimeout(30_000);

/** Longer than any spec: what comes must be signalled. */
const NEVER_MS = 600_000;

describe('GET /channels/{id}/login', () => {
  let plane: RunningControlPlane;
  let directory: ChannelDirectory;
  let redis: Redis;
  let key: string;
  let accountId: string;
  let id: string;

  beforeAll(async () => {
    const streams = { pollMs: NEVER_MS, pollWhileLiveMs: NEVER_MS, checkMs: 15_000 };
    plane = await RunningControlPlane.open({}, {}, undefined, streams);
    await plane.app.listen(0, '127.0.0.1');
    directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0 });
    redis = openRedis({ url: plane.redisUrl, name: 'login-spec' });
  });
  afterAll(async () => {
    await closeRedis(redis);
    await plane.close();
  });
  beforeEach(async () => {
    ({ accountKey: key, accountId } = await plane.newAccount());
    const made = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    ({ id } = OPERATIONS.createChannel.answer.parse(made.body).channel);
  });

  /** The channel's worker, while `work` runs. */
  const withWorker = async (reply: (name: string, count: number) => CommandReply, work: () => Promise<void>) => {
    let count = 0;
    const worker = openCommandWorker({
      redisUrl: plane.redisUrl,
      shard: (await directory.byId(id))?.shard ?? -1,
      concurrency: 2,
      handle: ({ name }) => Promise.resolve(reply(name, (count += 1))),
      onError: () => undefined,
    });
    try {
      await work();
    } finally {
      await worker.close();
    }
  };
  const code = (text: string, forMs: number): CommandReply => ({
    ok: true,
    result: { code: text, expiresAtMs: Date.now() + forMs },
  });
  const setLinked = async (columns: string): Promise<void> => {
    await plane.regional.pool.query(`UPDATE channels SET ${columns} WHERE id = $1`, [id]);
  };
  /** What a stream sends when it is signalled; again and again, as one that was just opened may not be subscribed yet. */
  const signalled = async (stream: { next(): Promise<LoginStep | undefined> }) => {
    const signals = setInterval(() => void publishEventsReady(redis, id), 50);
    return stream.next().finally(() => clearInterval(signals));
  };

  async function open(search = '', headers: Record<string, string> = { authorization: `Bearer ${key}` }) {
    const ended = new AbortController();
    const response = await fetch(`${await plane.app.getUrl()}/api/v1/channels/${id}/login${search}`, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: ended.signal,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    /** The next step; undefined: the stream has ended. */
    const next = async (): Promise<LoginStep | undefined> => {
      for (;;) {
        const found = /event: (\w+)\ndata: (.*)\n\n/.exec(text);
        if (found) {
          text = text.slice(found.index + found[0].length);
          const step = loginStep.parse(JSON.parse(found[2] ?? ''));
          expect(step.event).toBe(found[1]);
          return step;
        }
        const chunk = await reader?.read();
        if (chunk?.done !== false) return undefined;
        text += chunk.value;
      }
    };
    return { next, close: () => ended.abort() };
  }

  it('pushes each code while it is valid, the link and the name at a signal, and ends', async () => {
    await withWorker(
      (_name, count) => (count === 1 ? code('first', 400) : code('second', NEVER_MS)),
      async () => {
        const stream = await open();
        expect(await stream.next()).toMatchObject({ event: 'code', by: 'scan', code: 'first' });
        expect(await stream.next()).toMatchObject({ event: 'code', code: 'second' });
        await setLinked("linked = true, session_state = 'connecting', phone = '4915112345678'");
        expect(await signalled(stream)).toEqual({ event: 'linked', phone: '4915112345678' });
        await setLinked("push_name = 'Example Shop'");
        expect(await signalled(stream)).toEqual({ event: 'linked', phone: '4915112345678', name: 'Example Shop' });
        expect(await stream.next()).toBeUndefined();
      },
    );
  });

  it('sends the present code at once to a client that reconnects, and to one that wants no stream', async () => {
    const valid = code('present', 20_000);
    await withWorker(
      () => valid,
      async () => {
        for (const _again of [1, 2]) {
          const stream = await open();
          expect(await stream.next()).toMatchObject({ event: 'code', code: 'present' });
          stream.close();
        }
        const answer = await plane.call(key, 'GET', `/api/v1/channels/${id}/login`);
        expect(answer.headers['cache-control']).toBe('no-store');
        expect(OPERATIONS.watchLogin.answer.parse(answer.body)).toMatchObject({ event: 'code', code: 'present' });
      },
    );
    expect(plane.logged.join('')).not.toContain('present');
  });

  it('requests letters from the worker for the digits of a number, and refuses what is none', async () => {
    await withWorker(
      (name) => (name === 'channel.phoneCode' ? code('ABCD2345', 160_000) : code('wrong kind', 1_000)),
      async () => {
        const stream = await open(`?phone=${encodeURIComponent('+49 151-1234 5678')}`);
        expect(await stream.next()).toMatchObject({ event: 'code', by: 'phone', code: 'ABCD2345' });
        stream.close();
      },
    );
    const answer = await plane.call(key, 'GET', `/api/v1/channels/${id}/login?phone=house`);
    expect(answer).toMatchObject({ status: 400, body: { error: { details: expect.stringContaining('phone: ') } } });
  });

  it('is for the account alone; a browser names the account in the query', async () => {
    const { accountKey: stranger } = await plane.newAccount();
    expect((await plane.call(stranger, 'GET', `/api/v1/channels/${id}/login`)).status).toBe(404);
    const user = await (await SpecUser.create(plane)).join(accountId, 'developer');
    await user.join((await plane.newAccount()).accountId, 'owner');
    await withWorker(
      () => code('present', 20_000),
      async () => {
        expect((await user.call('GET', `/channels/${id}/login`)).status).toBe(400);
        const stream = await open(`?account=${accountId}`, { cookie: user.cookie });
        expect(await stream.next()).toMatchObject({ event: 'code' });
        stream.close();
      },
    );
  });

  it.each([
    ['GET login, as a stream', { accept: 'text/event-stream' }],
    ['GET login', {}],
    ['POST logout', {}],
  ])('%s: nothing is carried out by a worker once nobody waits for it any more', async (route, accept) => {
    const spied = jest.spyOn(CommandClient.prototype, 'call');
    const call = spied.getMockImplementation();
    if (!call) throw new Error('commands are not sent by CommandClient');
    // Only because nobody waits any more is it not carried out: a worker would have had time to begin.
    spied.mockImplementation(function (this: CommandClient, channel, name, input, options) {
      return Reflect.apply(call, this, [channel, name, input, { ...options, startWithinMs: NEVER_MS }]);
    });
    const [method, path] = route.split(/[ ,]/);
    if (path === 'logout') await setLinked("linked = true, session_state = 'open'");
    const shard = (await directory.byId(id))?.shard ?? -1;
    const waiting = async (count: number): Promise<void> => {
      let found: number | undefined;
      do found = (await readQueueFigures(redis, [shard], Date.now()))[0]?.waiting;
      while (found !== count);
    };
    const gone = new AbortController();
    const url = `${await plane.app.getUrl()}/api/v1/channels/${id}/${path ?? ''}`;
    const headers = { authorization: `Bearer ${key}`, ...accept };
    const asked = fetch(url, { method, headers, signal: gone.signal }).then((answer) => answer.text());
    await waiting(1);
    gone.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await waiting(0);
    spied.mockRestore();
  });
});
