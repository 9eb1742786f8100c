import { setImmediate as turn } from 'node:timers/promises';
import type { ChannelRecord } from '@dormouse/channel-directory';
import { COMMANDS, DEFAULT_SETTINGS, GatewayError, type SentMessage } from '@dormouse/gateway-contract';
import type { ReceivedCommand } from '@dormouse/queues';
import { deferred } from '../socket/deferred.js';
import type { OpenSession } from '../socket/open-session.js';
import type { Handlers } from './command-context.js';
import { CommandRunner } from './command-runner.js';

const RECORD: ChannelRecord = {
  id: 'c1',
  accountId: 'a',
  name: 'n',
  shard: 0,
  standing: 'good',
  settings: DEFAULT_SETTINGS,
  session: {
    state: 'open',
    reason: null,
    sinceMs: 0,
    linked: true,
    phone: '49',
    lid: null,
    deviceId: 1,
    pushName: null,
  },
  createdAtMs: 0,
  sleep: null,
  deleted: false,
};

const SENT = { sent: true } as unknown as SentMessage;
const SESSION = { reportFault: () => undefined } as unknown as OpenSession;

interface Given {
  open?: () => Promise<OpenSession>;
  byId?: (id: string) => Promise<ChannelRecord | undefined>;
  awaited?: 'waking';
}

function setup(given: Partial<Handlers> & Given = {}) {
  const due: (() => void)[] = [];
  const clock = {
    nowMs: 1_000,
    now: () => clock.nowMs,
    schedule: (_delayMs: number, callback: () => void) => {
      due.push(callback);
      return () => void due.splice(due.indexOf(callback), 1);
    },
  };
  const logged: unknown[] = [];
  const never = () => Promise.reject(new Error('not expected'));
  const runner = new CommandRunner({
    sessions: {
      open: given.open ?? (() => Promise.resolve(SESSION)),
      keepAwake: () => () => undefined,
      awaited: () => given.awaited,
      loginCode: () => Promise.resolve({ code: 'qr', expiresAtMs: 5 }),
      phoneCode: () => Promise.resolve({ code: 'ABCD2345', expiresAtMs: 5 }),
      logout: () => Promise.resolve(),
      forget: () => Promise.resolve(),
    },
    directory: { byId: given.byId ?? ((id) => Promise.resolve(id === 'c1' ? RECORD : undefined)) },
    handlers: {
      ...(Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, never])) as unknown as Handlers),
      'messages.sendText': given['messages.sendText'] ?? never,
      'channel.loginCode': (context) => context.sessions.loginCode(context.channelId, 0),
    },
    networkError: (error) => (error instanceof Error && error.message === 'known' ? new GatewayError(403) : undefined),
    log: { debug: () => undefined, info: () => undefined, error: (facts) => logged.push(facts) },
    clock,
  });
  const command = (overrides: Partial<ReceivedCommand> = {}): ReceivedCommand => ({
    order: 1,
    channelId: 'c1',
    name: 'messages.sendText',
    input: { to: '4915112345678', body: 'hello' },
    revision: 1,
    startBy: 50_000,
    requestId: 'r1',
    afterAnswer: () => undefined,
    ...overrides,
  });
  return { runner, clock, command, logged, due };
}

const failing = (status: number) => ({ ok: false, error: expect.objectContaining({ status }) as object });

describe('CommandRunner', () => {
  it('runs a handler with the open session, the settings and the validated input', async () => {
    const seen: unknown[] = [];
    const { runner, command } = setup({
      'messages.sendText': (context, input) => {
        seen.push(context.session(), context.settings, input.body);
        return Promise.resolve(SENT);
      },
    });
    await expect(runner.run(command())).resolves.toEqual({ ok: true, result: SENT });
    expect(seen).toEqual([SESSION, DEFAULT_SETTINGS, 'hello']);
  });

  it('runs a send that is repeated while it is under way once, and replies to all callers', async () => {
    const results: ReturnType<typeof deferred<SentMessage>>[] = [];
    const { runner, command, clock } = setup({
      'messages.sendText': (context) => {
        context.leaveLane();
        results.push(deferred<SentMessage>());
        return results.at(-1)?.promise ?? Promise.reject(new Error('unreachable'));
      },
    });
    const repeat = (sendAs = 'k', channelId = 'c1') =>
      Array.from({ length: 5 }, (_, n) => runner.run(command({ order: n + 1, sendAs, channelId })));
    const first = repeat();
    while (results.length === 0) await turn();
    results[0]?.reject(new GatewayError(502));
    expect(await Promise.all(first)).toEqual(Array.from({ length: 5 }, () => failing(502)));
    const again = repeat();
    while (results.length === 1) await turn();
    results[1]?.resolve(SENT);
    expect(await Promise.all([...again, ...repeat()])).toEqual(
      Array.from({ length: 10 }, () => ({ ok: true, result: SENT })),
    );
    expect(results).toHaveLength(2);
    clock.nowMs += 10_000;
    const later = repeat();
    while (results.length === 2) await turn();
    results[2]?.resolve(SENT);
    await Promise.all(later);
    expect(results).toHaveLength(3);
  });

  it('gives a handler only text that can be stored, so that what is sent is what is stored', async () => {
    const seen: unknown[] = [];
    const { runner, command } = setup({
      'messages.sendText': (_, { body }) => {
        seen.push(body);
        return Promise.resolve(SENT);
      },
    });
    await runner.run(command({ input: { to: '4915112345678', body: 'a\u0000b\uD83D 👍' } }));
    expect(seen).toEqual(['a\uFFFDb\uFFFD 👍']);
  });

  it('starts commands in the order of their calls, even if one takes longer to find its channel', async () => {
    const slow = deferred<ChannelRecord>();
    const lookUps = [slow.promise, Promise.resolve(RECORD)];
    const started: unknown[] = [];
    const { runner, command } = setup({
      byId: () => lookUps.shift() ?? Promise.resolve(RECORD),
      'messages.sendText': (_, { body }) => {
        started.push(body);
        return Promise.resolve(SENT);
      },
    });
    const send = (order: number, body: string) => runner.run(command({ order, input: { to: '4915112345678', body } }));
    const first = send(1, 'first');
    const second = send(2, 'second');
    for (let turns = 0; turns < 5; turns++) await turn(); // all the time the second needs to get ahead
    slow.resolve(RECORD);
    await Promise.all([first, second]);
    expect(started).toEqual(['first', 'second']);
  });

  it('runs commands that need no socket outside the lane, and gives them none', async () => {
    const { runner, command } = setup({ open: () => Promise.reject(new Error('not expected')) });
    const reply = await runner.run(command({ name: 'channel.loginCode', input: {} }));
    expect(reply).toEqual({ ok: true, result: { code: 'qr', expiresAtMs: 5 } });
  });

  it('refuses unknown channels and invalid input, and answers 503 to a command of a later version: nothing was done', async () => {
    const { runner, command } = setup();
    await expect(runner.run(command({ name: 'messages.unknown' }))).resolves.toEqual({
      ok: false,
      error: expect.objectContaining({ status: 503, retryAfterS: 10 }) as object,
    });
    const later = command({ revision: COMMANDS['messages.sendText'].revision + 1 });
    await expect(runner.run(later)).resolves.toEqual({
      ok: false,
      error: expect.objectContaining({ status: 503, retryAfterS: 10 }) as object,
    });
    await expect(runner.run(command({ input: { to: '4915112345678' } }))).resolves.toEqual(failing(400));
    await expect(runner.run(command({ channelId: 'c9' }))).resolves.toEqual(failing(404));
  });

  it('never starts a command after its time: 503', async () => {
    const { runner, command, clock } = setup();
    await expect(runner.run(command({ startBy: clock.nowMs }))).resolves.toEqual(failing(503));
  });

  it('does not start a command whose session woke too late', async () => {
    let started = false;
    const [requested, woken] = [deferred<void>(), deferred<OpenSession>()];
    const { runner, command, clock } = setup({
      open: () => {
        requested.resolve();
        return woken.promise;
      },
      'messages.sendText': () => {
        started = true;
        return Promise.reject(new Error('not expected'));
      },
    });
    const reply = runner.run(command());
    await requested.promise;
    clock.nowMs = 50_000;
    woken.resolve(SESSION);
    await expect(reply).resolves.toEqual(failing(503));
    expect(started).toBe(false);
  });

  it('replies with the reason why the session is not open', async () => {
    const refusal = new GatewayError(503, { details: 'reconnecting', retryAfterS: 4 });
    const { runner, command } = setup({ open: () => Promise.reject(refusal) });
    await expect(runner.run(command())).resolves.toEqual({
      ok: false,
      error: expect.objectContaining({ status: 503, details: 'reconnecting', retryAfterS: 4 }) as object,
    });
  });

  it('replies to commands in the lane behind a wake that the channel is waking, not that it is busy', async () => {
    const [requested, woken] = [deferred<void>(), deferred<OpenSession>()];
    const { runner, command, due } = setup({
      awaited: 'waking',
      open: () => {
        requested.resolve();
        return woken.promise;
      },
    });
    const first = runner.run(command());
    await requested.promise;
    const second = runner.run(command({ order: 2 }));
    due.forEach((callback) => callback());
    await expect(second).resolves.toEqual({
      ok: false,
      error: expect.objectContaining({ status: 503, details: 'waking', retryAfterS: 1 }) as object,
    });
    woken.reject(new GatewayError(503, { details: 'waking', retryAfterS: 1 }));
    await expect(first).resolves.toEqual(failing(503));
  });

  it('prepares commands in parallel, and runs them in the order of their calls', async () => {
    const files = new Map(['slow', 'quick'].map((body) => [body, deferred<void>()]));
    const done: string[] = [];
    const { runner, command } = setup({
      'messages.sendText': {
        prepare: async ({ openSession }, { body }) => {
          done.push(`prepare ${body}`);
          expect(await openSession()).toBe(SESSION);
          await files.get(body)?.promise;
          return (context) => {
            done.push(`send ${body} ${context.session() === SESSION}`);
            return Promise.resolve(SENT);
          };
        },
      },
    });
    const send = (order: number, body: string) => runner.run(command({ order, input: { to: '4915112345678', body } }));
    const all = [send(1, 'slow'), send(2, 'quick')];
    files.get('quick')?.resolve();
    for (let turns = 0; turns < 5; turns++) await turn(); // all the time the second needs to get ahead
    expect(done).toEqual(['prepare slow', 'prepare quick']);
    files.get('slow')?.resolve();
    expect(await Promise.all(all)).toEqual([
      { ok: true, result: SENT },
      { ok: true, result: SENT },
    ]);
    expect(done.slice(2)).toEqual(['send slow true', 'send quick true']);
  });

  it('replies with the failure of a preparation at once, without a turn', async () => {
    const { runner, command } = setup({
      'messages.sendText': {
        prepare: (_, { body }) =>
          body === 'endless'
            ? new Promise(() => undefined)
            : Promise.reject(new GatewayError(400, { details: 'media: x' })),
      },
    });
    void runner.run(command({ order: 1, input: { to: '4915112345678', body: 'endless' } }));
    await expect(runner.run(command({ order: 2 }))).resolves.toEqual({
      ok: false,
      error: expect.objectContaining({ status: 400, details: 'media: x' }) as object,
    });
  });

  it('lets the next command of the channel start once the message is on the wire', async () => {
    const order: string[] = [];
    const answered = deferred<SentMessage>();
    const { runner, command } = setup({
      'messages.sendText': async (context, input) => {
        order.push(input.body);
        if (input.body === 'second') return SENT;
        await turn();
        context.leaveLane();
        return answered.promise;
      },
    });
    const first = runner.run(command());
    const second = runner.run(command({ order: 2, input: { to: '4915112345678', body: 'second' } }));
    await expect(second).resolves.toMatchObject({ ok: true });
    answered.resolve(SENT);
    await first;
    expect(order).toEqual(['hello', 'second']);
  });

  it('translates errors of the network, and replies 502 to all others without their text', async () => {
    const known = setup({ 'messages.sendText': () => Promise.reject(new Error('known')) });
    await expect(known.runner.run(known.command())).resolves.toEqual(failing(403));
    const unknown = setup({ 'messages.sendText': () => Promise.reject(new Error('hello')) });
    const reply = await unknown.runner.run(unknown.command());
    expect(reply).toEqual(failing(502));
    expect(JSON.stringify([reply, unknown.logged])).not.toContain('hello');
    expect(unknown.logged).toHaveLength(1);
  });

  it('does not let a channel wait for a handler of another one that never ends', async () => {
    const { runner, command } = setup({
      byId: () => Promise.resolve(RECORD),
      'messages.sendText': ({ channelId }) =>
        channelId === 'hangs' ? new Promise<never>(() => undefined) : Promise.resolve(SENT),
    });
    void runner.run(command({ channelId: 'hangs' }));
    await expect(runner.run(command({ channelId: 'goes on' }))).resolves.toMatchObject({ ok: true });
  });

  it('goes on with the channel after a handler that threw', async () => {
    const { runner, command } = setup({ 'messages.sendText': () => Promise.reject(new Error('known')) });
    const replies = await Promise.all([1, 2, 3].map((order) => runner.run(command({ order }))));
    expect(replies).toEqual([failing(403), failing(403), failing(403)]);
  });
});
