import { TestOutbox } from '../testing/test-outbox.js';
import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { DELIVERY_DEFAULTS } from './create-dispatcher.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const POST_TIMEOUT_MS = 400;

describe('a webhook', () => {
  let outbox: TestOutbox;
  let running: RunningDispatcher;
  const receivers: TestReceiver[] = [];
  const receiver = async (protocol: 'http' | 'https' = 'http'): Promise<TestReceiver> => {
    const opened = await TestReceiver.open(0, protocol);
    receivers.push(opened);
    return opened;
  };
  /** Writes events and announces them. */
  const publish = async (channelId: string, count = 1, kind?: string, ageS?: number): Promise<void> => {
    await outbox.write(channelId, count, kind, ageS);
    running.signal(channelId);
  };
  const cursorAt = (channelId: string, position: number) =>
    outbox.cursorAtRest(channelId, (cursor) => cursor.position === position);

  beforeAll(async () => {
    outbox = await TestOutbox.open();
    running = startDispatcher(outbox.url, { settings: { postTimeoutMs: POST_TIMEOUT_MS, leaseMs: 8_000 } });
  });
  afterAll(async () => {
    await running.stop();
    await outbox.close();
    await Promise.all(receivers.map((each) => each.close()));
  });

  it('receives events in sequence, one per call, in the shape of the contract, with the event id as header', async () => {
    const hook = await receiver();
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 100);
    await publish(channelId, 3);
    await hook.received(103);
    expect(hook.numbers).toEqual(Array.from({ length: 103 }, (_, index) => index + 1));
    expect(hook.calls[0]).toMatchObject({ method: 'POST', path: '/hook' });
    expect(hook.calls[0]?.headers['content-type']).toBe('application/json');
    expect(hook.calls[0]?.body).toEqual({
      messages: [{ number: 1 }],
      event: { type: 'messages', event: 'post', method: 'post' },
      channel_id: channelId,
    });
    expect(hook.calls.map((call) => call.headers['webhook-id'])).toEqual(await outbox.eventIds(channelId));
    await cursorAt(channelId, 103);
  });

  it('is called over kept connections: two in turn when it is quick, as each is free again a moment after its answer', async () => {
    const hook = await receiver();
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 20);
    await hook.received(20);
    expect(new Set(hook.calls.map((call) => call.connection)).size).toBeLessThanOrEqual(2);
  });

  it('in mode path or method is called at its own address for each kind, with its headers and its query', async () => {
    const hook = await receiver();
    const events = [{ type: 'messages' as const }];
    const url = `${hook.url}?key=1`;
    const channelId = await outbox.channel([
      webhook({ url, mode: 'path', events, headers: { 'X-Secret': 'sésame', Host: 'evil', 'Content-Type': 'x' } }),
      webhook({ url, mode: 'method', events }),
    ]);
    await publish(channelId, 1, 'messages.patch');
    await hook.received(2);
    const byMethod = hook.calls.toSorted((a, b) => a.path.localeCompare(b.path));
    expect(byMethod.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PATCH /hook/messages?key=1',
      'POST /hook/messages/patch?key=1',
    ]);
    const headers = byMethod[1]?.headers ?? {};
    expect(Buffer.from(String(headers['x-secret']), 'latin1').toString('utf8')).toBe('sésame');
    expect(headers).toMatchObject({ host: `127.0.0.1:${hook.port}`, 'content-type': 'application/json' });
  });

  it('receives only what it wants, by present or by deprecated names, and passes the rest over', async () => {
    const [messages, statuses] = [await receiver(), await receiver()];
    const channelId = await outbox.channel([
      webhook({ url: messages.url, events: [{ type: 'message', method: 'post' }] }),
      webhook({ url: statuses.url, events: [{ type: 'ack' }] }),
    ]);
    for (const kind of ['messages.post', 'statuses.post', 'messages.patch', 'chats.post']) {
      await outbox.write(channelId, 2, kind);
    }
    running.signal(channelId);
    await Promise.all([messages.received(2), statuses.received(2)]);
    await eventually(
      () => outbox.cursors(channelId),
      (cursors) => cursors.every(({ position, leased }) => position === 8 && !leased),
    );
    expect(messages.numbers).toEqual([1, 2]);
    expect(statuses.numbers).toEqual([3, 4]);
  });

  it('is notified when requests of its channel are refused for want of payment, and when they no longer are', async () => {
    const hook = await receiver();
    const channelId = await outbox.channel([webhook({ url: hook.url, events: [{ type: 'service' }] })]);
    await outbox.setStanding(channelId, 'past_due');
    await outbox.setStanding(channelId, 'good');
    running.signal(channelId);
    await hook.received(2);
    const event = { type: 'service', event: 'post', method: 'post' };
    const errors = [{ code: 402, message: 'payment required', details: 'subscription past due' }];
    expect(hook.calls[0]?.body).toEqual({ errors, event, channel_id: channelId });
    expect(hook.calls[1]?.body).toMatchObject({ errors: [{ code: 200 }] });
  });

  it('that answers 500 receives the same event again, with the same id, and nothing later before it', async () => {
    const hook = await receiver();
    hook.behaviour = () => (hook.calls.length <= 3 ? 500 : 200);
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 3);
    for (const attempts of [1, 2, 3]) {
      const [cursor] = await eventually(
        () => outbox.cursors(channelId),
        ([first]) => first?.attempts === attempts && !first.leased,
      );
      expect(cursor).toMatchObject({ position: 0, lastStatus: 500, lastError: 'answered 500' });
      expect(cursor?.waitMs).toBeGreaterThan(attempts * 3_000 - 3_000); // some of it has passed by now
      expect(cursor?.waitMs).toBeLessThanOrEqual(attempts * 3_300); // with a tenth of jitter
      await outbox.passTime(attempts * 3_300);
      running.dispatcher.sweepNow();
    }
    await hook.received(6);
    expect(hook.numbers).toEqual([1, 1, 1, 1, 2, 3]);
    expect(new Set(hook.calls.slice(0, 4).map((call) => call.headers['webhook-id'])).size).toBe(1);
    const [cursor] = await cursorAt(channelId, 3);
    expect(cursor).toMatchObject({ attempts: 0, lastStatus: null, lastError: null });
  });

  it('is tried again when its time comes, not earlier, without a sweep', async () => {
    const hook = await receiver();
    hook.behaviour = () => (hook.calls.length === 1 ? 503 : 204);
    const channelId = await outbox.channel([webhook({ url: hook.url })], { callback_backoff_delay_ms: 3_000 });
    await publish(channelId);
    const [first, second] = await hook.received(2);
    const waitedMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(2_999);
  });

  it.each([
    ['does not answer in time', 'timeout', (): void => undefined],
    ['redirects', 'answered 302', () => 302],
    ['closes the connection', 'connection lost', (_call: unknown, response: { destroy(): void }) => response.destroy()],
  ] as const)('that %s has not accepted the event', async (_title, lastError, behaviour) => {
    const hook = await receiver();
    hook.behaviour = (call, response) => {
      if (lastError === 'answered 302') response.setHeader('location', hook.url);
      return behaviour(call, response);
    };
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 2);
    const [cursor] = await eventually(
      () => outbox.cursors(channelId),
      ([found]) => found?.attempts === 1 && !found.leased,
    );
    expect(cursor).toMatchObject({ position: 0, lastError });
    expect(new Set(hook.numbers)).toEqual(new Set([1]));
  });

  it('without a listener has not accepted the event', async () => {
    const gone = await TestReceiver.open();
    const { url } = gone;
    await gone.close();
    const channelId = await outbox.channel([webhook({ url })]);
    await publish(channelId);
    const [cursor] = await eventually(
      () => outbox.cursors(channelId),
      ([found]) => found?.attempts === 1,
    );
    expect(cursor).toMatchObject({ lastStatus: null, lastError: 'connection refused' });
  });

  it('whose certificate no authority signed receives nothing: the log has the reason in words, and it is tried again', async () => {
    const hook = await receiver('https');
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 2);
    for (const attempts of [1, 2]) {
      const [cursor] = await eventually(
        () => outbox.cursors(channelId),
        ([found]) => found?.attempts === attempts && !found.leased,
      );
      expect(cursor).toMatchObject({ position: 0, lastStatus: null, lastError: 'certificate not accepted' });
      await outbox.passTime(attempts * 3_300);
      running.dispatcher.sweepNow();
    }
    const refused = ['1.1 failed certificate not accepted', '1.2 failed certificate not accepted'];
    await eventually(
      () => outbox.log(channelId),
      (lines) => JSON.stringify(lines.slice(0, 2)) === JSON.stringify(refused),
    );
    expect(hook.calls).toEqual([]);
  });

  it('that answers 404 for an hour is tried at growing intervals, then receives all of it in order, nothing lost', async () => {
    const hook = await receiver();
    hook.behaviour = () => 404;
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 5);
    let [passedMs, attempts] = [0, 1];
    for (; passedMs < 3_600_000; attempts += 1) {
      const [cursor] = await eventually(
        () => outbox.cursors(channelId),
        ([found]) => found?.attempts === attempts && !found.leased,
      );
      const waitMs = Math.min(attempts * 3_000, 900_000);
      expect(cursor?.waitMs).toBeGreaterThan(waitMs - 2_000);
      expect(cursor?.waitMs).toBeLessThanOrEqual(waitMs * 1.1);
      if (passedMs + waitMs >= 3_600_000) hook.behaviour = () => 200;
      await outbox.age(channelId, waitMs);
      await outbox.passTime(waitMs * 1.1);
      passedMs += waitMs;
      running.dispatcher.sweepNow();
    }
    await cursorAt(channelId, 5);
    // 3 s + 6 s + 9 s ... : the forty-ninth wait ends the hour.
    expect(hook.numbers).toEqual([...Array.from({ length: 49 }, () => 1), 1, 2, 3, 4, 5]);
    expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    expect(await outbox.deadLetters(channelId)).toEqual([]);
  });

  it('that answers without end is read for a few kilobytes, then left', async () => {
    const hook = await receiver();
    let sentBytes = 0;
    const left = new Promise<void>((resolve) => {
      hook.behaviour = (_call, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(65_536, 'x');
        const more = (): void => {
          while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
        };
        response.on('drain', more).on('close', resolve);
        more();
      };
    });
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId);
    await Promise.all([cursorAt(channelId, 1), left]);
    // What is beyond lies in the buffers of the two ends; a reader without a bound reads gigabytes in its second.
    expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
  });

  it('that answers 2xx has accepted the event, however long or slow the rest of the answer is', async () => {
    const hook = await receiver();
    hook.behaviour = ({ number }, response) => {
      response.writeHead(202);
      if (number === 1) response.end('x'.repeat(5_000_000));
      else response.write('never ends');
    };
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await publish(channelId, 2);
    await cursorAt(channelId, 2);
    expect(hook.numbers).toEqual([1, 2]);
  });

  it('does not wait for another one that hangs, of the same channel or of another', async () => {
    const patient = startDispatcher(outbox.url, { settings: { drainMs: 10 } });
    const [slow, quick] = [await receiver(), await receiver()];
    slow.behaviour = () => undefined;
    const [both, onlyQuick] = [
      await outbox.channel([webhook({ url: slow.url }), webhook({ url: quick.url })]),
      await outbox.channel([webhook({ url: quick.url })]),
    ];
    await Promise.all([outbox.write(both, 10), outbox.write(onlyQuick, 10)]);
    [both, onlyQuick].forEach((channelId) => patient.signal(channelId));
    await Promise.all([slow.received(1), quick.received(20)]);
    // The hanging post has not even failed yet.
    const positions = (await outbox.cursors(both)).map(({ position, attempts }) => [position, attempts]);
    expect(positions).toContainEqual([0, 0]);
    expect(slow.numbers).toEqual([1]);
    await patient.stop();
  });

  it('with a greatest age does not receive older events', async () => {
    const hook = await receiver();
    const channelId = await outbox.channel([webhook({ url: hook.url, webhook_max_age_seconds: 60 })]);
    await outbox.write(channelId, 2, 'messages.post', 120);
    await publish(channelId, 1, 'messages.post', 30);
    await cursorAt(channelId, 3);
    expect(hook.numbers).toEqual([3]);
  });

  it('receives nothing more once its channel is deleted and that is seen, by the first position written after it', async () => {
    const hook = await receiver();
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = async ({ number }) => {
      if (number === 1) await outbox.markDeleted(channelId);
      return 200;
    };
    const { mostEvents } = DELIVERY_DEFAULTS.runAhead;
    await publish(channelId, 2 * mostEvents);
    await hook.received(1);
    await eventually(
      () => outbox.cursors(channelId),
      (cursors) => cursors.length === 0,
    );
    await running.dispatcher.idle();
    expect(hook.numbers.length).toBeLessThanOrEqual(mostEvents);
  });

  it('leaves no bodies, headers or addresses in the log', () => {
    expect(running.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(running.logged)).not.toMatch(/127\.0\.0\.1|\/hook|number|sésame|key=1/);
  });

  it('leaves its attempts and the age of its events in the metrics', async () => {
    const text = await running.registry.metrics();
    expect(text).toMatch(/webhook_attempts_total\{outcome="taken"\} \d{3}/);
    expect(text).toContain('webhook_event_age_seconds_bucket');
  });
});

describe('without leave to call private addresses', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '[::ffff:127.0.0.1]'])(
    'http://%s is never connected to',
    async (host) => {
      const outbox = await TestOutbox.open();
      const hook = await TestReceiver.open();
      const running = startDispatcher(outbox.url, { settings: { allowPrivateWebhooks: false } });
      try {
        const channelId = await outbox.channel([webhook({ url: `http://${host}:${hook.port}/` })]);
        await outbox.write(channelId);
        running.signal(channelId);
        const [cursor] = await eventually(
          () => outbox.cursors(channelId),
          ([found]) => found?.attempts === 1,
        );
        expect(cursor?.lastError).toBe('address not public');
        expect(hook.calls).toEqual([]);
      } finally {
        await running.stop();
        await hook.close();
        await outbox.close();
      }
    },
  );
});
