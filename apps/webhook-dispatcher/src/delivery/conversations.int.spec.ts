import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const [ADA, BOB, EVE] = ['1@s.whatsapp.net', '2@s.whatsapp.net', '3@g.us'];
const HOUR_MS = 3_600_000;

describe('conversations', () => {
  let outbox: TestOutbox;
  let running: RunningDispatcher;
  let hook: TestReceiver;
  const write = async (channelId: string, ...chats: string[]): Promise<void> => {
    await outbox.write(channelId, chats.length, 'messages.post', 0, chats);
    running.signal(channelId);
  };
  /** Lets the present waits pass, once, and waits until what is due was tried. */
  const again = async (channelId: string, ms = HOUR_MS): Promise<void> => {
    const before = hook.calls.length;
    await outbox.passTime(ms, { leases: false });
    running.dispatcher.sweepNow();
    await hook.received(before + 1);
    await outbox.cursorAtRest(channelId, () => true);
  };
  const refuse = (...numbers: number[]): void => {
    hook.behaviour = ({ number }) => (numbers.includes(number) ? 500 : 200);
  };

  beforeAll(async () => {
    outbox = await TestOutbox.open();
    running = startDispatcher(outbox.url, { settings: { postTimeoutMs: 400, leaseMs: 8_000 } });
  });
  beforeEach(async () => {
    hook = await TestReceiver.open();
  });
  afterEach(() => hook.close());
  afterAll(async () => {
    await running.stop();
    await outbox.close();
  });

  it('go on while one waits for an event that is refused; later events of that one wait, in order', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    refuse(1);
    await write(channelId, ADA, BOB, ADA, EVE, BOB, ADA);
    const [state] = await outbox.cursorAtRest(channelId, ({ held }) => held.length === 3);
    expect(hook.numbers).toEqual([1, 2, 4, 5]);
    expect(state).toMatchObject({ position: 0, held: [1, 3, 6], attempts: 0 });
    await write(channelId, BOB, ADA);
    await hook.received(5);
    expect(hook.numbers.at(-1)).toBe(7);
    refuse();
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ position }) => position === 8);
    expect(hook.numbers).toEqual([1, 2, 4, 5, 7, 1, 3, 6, 8]);
    expect(
      new Set(hook.calls.filter(({ number }) => number === 1).map(({ headers }) => headers['webhook-id'])).size,
    ).toBe(1);
    expect(hook.calls.map(({ headers }) => headers['webhook-sequence'])).toEqual(hook.numbers.map(String));
    expect(hook.calls.filter(({ headers }) => headers['traceparent'] !== undefined)).toEqual([]); // there are no traces
  });

  it('keep order among events that belong to none, as one conversation more', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    refuse(1);
    await outbox.write(channelId, 2);
    await write(channelId, ADA);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 2);
    expect(hook.numbers).toEqual([1, 3]);
    refuse();
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ position }) => position === 3);
    expect(hook.numbers).toEqual([1, 3, 1, 2]);
  });

  it('wait for ten attempts at most where the receiver accepts others; what was set aside is tried on', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    refuse(1);
    await write(channelId, ADA, BOB, ADA, ADA);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 3);
    for (let attempt = 2; attempt <= 9; attempt += 1) {
      await outbox.passTime(80_000, { leases: false }); // in all less than a quarter of an hour
      running.dispatcher.sweepNow();
      await eventually(
        () => Promise.resolve(hook.numbers.filter((number) => number === 1).length),
        (count) => count === attempt,
      );
      await outbox.cursorAtRest(channelId, () => true);
    }
    expect(hook.numbers.filter((number) => number > 1)).toEqual([2]);
    await outbox.passTime(80_000, { leases: false });
    running.dispatcher.sweepNow();
    // Its conversation goes on once it is set aside.
    const [state] = await outbox.cursorAtRest(
      channelId,
      ({ setAside, position }) => setAside.length === 1 && position === 4,
    );
    expect(state).toMatchObject({ setAside: [1], held: [] });
    expect(hook.numbers.filter((number) => number > 1)).toEqual([2, 3, 4]);
    await write(channelId, ADA);
    await outbox.cursorAtRest(channelId, ({ position }) => position === 5);
    await again(channelId);
    expect(hook.numbers.filter((number) => number === 1)).toHaveLength(11);
    expect((await outbox.log(channelId)).filter((line) => line.includes('set_aside'))).toEqual([
      '1.10 set_aside 500 {}',
      '1.11 set_aside 500 {}',
    ]);
    refuse();
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ setAside, position }) => setAside.length === 0 && position === 5);
    expect(await outbox.deadLetters(channelId)).toEqual([]);
  });

  it('wait for a quarter of an hour at most; after 72 h what was set aside is a dead letter', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    refuse(1);
    await write(channelId, ADA, BOB, ADA);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 2);
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ setAside, position }) => setAside.length === 1 && position === 3);
    expect(hook.numbers).toEqual([1, 2, 1, 3]);
    await outbox.age(channelId, 73 * HOUR_MS);
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ setAside }) => setAside.length === 0);
    expect(await outbox.deadLetters(channelId)).toEqual([{ seq: 1, attempts: 3, redriving: false }]);
  });

  it('all wait, in order, for a receiver that answers nothing, which is called for one event at a time', async () => {
    const { port, url } = hook;
    await hook.close();
    const channelId = await outbox.channel([webhook({ url })]);
    await write(channelId, ADA, BOB, EVE, ADA, BOB);
    for (let attempts = 1; attempts <= 12; attempts += 1) {
      const [state] = await outbox.cursorAtRest(channelId, (each) => each.attempts === attempts);
      expect(state).toMatchObject({ position: 0, held: [1], setAside: [], lastError: 'connection refused' });
      if (attempts === 6) await write(channelId, EVE);
      if (attempts === 12) break;
      await outbox.passTime(HOUR_MS, { leases: false });
      running.dispatcher.sweepNow();
    }
    hook = await TestReceiver.open(port);
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ position }) => position === 6);
    expect(hook.numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('all wait for a receiver that refuses everything, which is called for few events at a time', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = () => 500;
    const chats = Array.from({ length: 20 }, (_, index) => `${index}@s.whatsapp.net`);
    await write(channelId, ...chats, ...chats);
    await outbox.cursorAtRest(channelId, ({ attempts }) => attempts === 3);
    expect(hook.numbers).toEqual([1, 2, 3]);
    for (let round = 1; round <= 3; round += 1) {
      await again(channelId);
      expect(hook.numbers).toHaveLength(3 + 3 * round);
    }
    await write(channelId, 'new@g.us');
    await running.dispatcher.idle();
    expect(hook.numbers).toHaveLength(12);
    hook.behaviour = () => 200;
    await again(channelId);
    await outbox.cursorAtRest(channelId, ({ position }) => position === 41);
    const after = hook.numbers.slice(12);
    expect(after.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
    for (const chat of chats.keys()) expect(after.indexOf(chat + 1)).toBeLessThan(after.indexOf(chat + 21));
  });

  it.each([
    ['is never answered', (): void => undefined],
    ['ends the connection', (_call: unknown, response: { destroy(): void }): void => response.destroy()],
  ])('go on without one whose event %s, once another shows that the receiver lives', async (_which, behaviour) => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = (call, response) => (call.number === 1 ? behaviour(call, response) : 200);
    await write(channelId, ADA, BOB, ADA, EVE);
    await outbox.cursorAtRest(channelId, ({ attempts }) => attempts === 1);
    await again(channelId, 10_000);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 2);
    expect(new Set(hook.numbers)).toEqual(new Set([1, 2, 4]));
    await write(channelId, BOB);
    await eventually(
      () => Promise.resolve(hook.numbers),
      (numbers) => numbers.includes(5),
    );
    expect(hook.numbers).not.toContain(3);
  });

  it('are not held up by an attempt at another one that takes its time', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    refuse(1);
    await write(channelId, ADA, BOB);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 1);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    hook.behaviour = async ({ number }) => {
      if (number === 1) await ended;
      return 200;
    };
    await outbox.passTime(HOUR_MS, { leases: false });
    running.dispatcher.sweepNow();
    await hook.received(3);
    await write(channelId, BOB, EVE);
    await hook.received(5);
    expect(hook.numbers).toEqual([1, 2, 1, 3, 4]);
    end();
    await outbox.cursorAtRest(channelId, ({ position }) => position === 4);
  });

  it('that wait lose no event that the webhook has stopped asking for, or that is too old, to the others', async () => {
    const [channelId, aged] = [
      await outbox.channel([webhook({ url: hook.url, events: [{ type: 'messages' }] })]),
      await outbox.channel([webhook({ url: hook.url, webhook_max_age_seconds: 60 })]),
    ];
    refuse(1);
    await outbox.write(channelId, 1, 'messages.put', 0, [ADA]);
    await write(channelId, ADA);
    await write(aged, ADA, ADA);
    for (const id of [channelId, aged]) await outbox.cursorAtRest(id, ({ held }) => held.length === 2);
    await outbox.updateSettings(channelId, {
      webhooks: [webhook({ url: hook.url, events: [{ type: 'messages', method: 'patch' }] })],
    });
    await outbox.age(aged, 61_000);
    await outbox.passTime(HOUR_MS, { leases: false });
    running.dispatcher.sweepNow();
    for (const id of [channelId, aged])
      await outbox.cursorAtRest(id, ({ position, held }) => position === 2 && held.length === 0);
    expect(hook.numbers).toEqual([1, 1]);
  });
});
