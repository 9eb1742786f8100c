import { WebhookSecrets } from '@dormouse/channel-directory';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const HOUR_MS = 3_600_000;
const GONE = 'http://127.0.0.1:9/hook';

describe('an event that a webhook does not accept', () => {
  let outbox: TestOutbox;
  let running: RunningDispatcher;
  let hook: TestReceiver;
  const publish = async (channelId: string, count = 1): Promise<void> => {
    await outbox.write(channelId, count);
    running.signal(channelId);
  };
  const cursor = (channelId: string, state: { position: number; attempts?: number }) =>
    outbox.cursorAtRest(
      channelId,
      ({ position, attempts }) => position === state.position && attempts === (state.attempts ?? 0),
    );
  const again = async (): Promise<void> => {
    await outbox.passTime(HOUR_MS);
    running.dispatcher.sweepNow();
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

  it('becomes a dead letter after 72 h, alone where others are accepted, and what follows is delivered in order', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = ({ number }, response) => void response.writeHead(number === 2 ? 500 : 200).end('sorry, no');
    await publish(channelId, 4);
    await cursor(channelId, { position: 1, attempts: 1 });
    await outbox.age(channelId, 71 * HOUR_MS);
    await again();
    await cursor(channelId, { position: 1, attempts: 2 });
    expect(await outbox.deadLetters(channelId)).toEqual([]);
    await outbox.age(channelId, 2 * HOUR_MS);
    await again();
    await cursor(channelId, { position: 4 });
    expect(hook.numbers).toEqual([1, 2, 2, 2, 3, 4]);
    expect(await outbox.deadLetters(channelId)).toEqual([{ seq: 2, attempts: 3, redriving: false }]);
    expect(await outbox.log(channelId)).toEqual([
      '1.1 taken 200 sorry, no',
      '2.1 failed 500 sorry, no',
      '2.2 failed 500 sorry, no',
      '2.3 dead 500 sorry, no',
      '3.1 taken 200 sorry, no',
      '4.1 taken 200 sorry, no',
    ]);
  });

  it('goes with everything else that is overdue when the receiver does not answer, and what is younger is delivered later', async () => {
    const channelId = await outbox.channel([webhook({ url: GONE })]);
    await publish(channelId, 5);
    await cursor(channelId, { position: 0, attempts: 1 });
    await outbox.age(channelId, 73 * HOUR_MS);
    await outbox.write(channelId, 2);
    await again();
    await cursor(channelId, { position: 5, attempts: 3 });
    const dead = await outbox.deadLetters(channelId);
    expect(dead.map(({ seq, attempts }) => [seq, attempts])).toEqual([[1, 2], ...[2, 3, 4, 5].map((seq) => [seq, 0])]);
  });

  it('takes new events that are overdue with it: they are not posted as well', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = ({ number }, response) => (number === 1 ? void response.destroy() : 200);
    await outbox.write(channelId, 3);
    await outbox.age(channelId, 73 * HOUR_MS);
    await publish(channelId);
    await again();
    await cursor(channelId, { position: 4 });
    expect([...new Set(hook.numbers)]).toEqual([1, 4]);
    expect((await outbox.deadLetters(channelId)).map(({ seq, attempts }) => [seq, attempts])).toEqual([
      [1, 1],
      [2, 0],
      [3, 0],
    ]);
  });

  it('is delivered once more on a redrive, before newer events and with its id, and then leaves', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = ({ number }) => (number <= 3 ? 410 : 200);
    await outbox.write(channelId, 3);
    await outbox.age(channelId, 73 * HOUR_MS);
    running.signal(channelId);
    await cursor(channelId, { position: 3 });
    hook.calls.length = 0;
    hook.behaviour = ({ number }) => (number === 3 ? 500 : 200);
    await outbox.redrive(channelId, [1, 3]);
    await publish(channelId);
    await cursor(channelId, { position: 4 });
    expect(hook.numbers).toEqual([1, 3, 4]);
    const ids = await outbox.eventIds(channelId);
    expect(hook.calls.map(({ headers }) => headers['webhook-id'])).toEqual([ids[0], ids[2], ids[3]]);
    expect(await outbox.deadLetters(channelId)).toEqual([
      { seq: 2, attempts: 1, redriving: false },
      { seq: 3, attempts: 2, redriving: false },
    ]);
  });

  it('rests again, all of it, after a redrive while the receiver is still away', async () => {
    const channelId = await outbox.channel([webhook({ url: GONE })]);
    await outbox.write(channelId, 3);
    await outbox.age(channelId, 73 * HOUR_MS);
    running.signal(channelId);
    await cursor(channelId, { position: 3 });
    await outbox.redrive(channelId, [1, 2, 3]);
    running.signal(channelId);
    await eventually(
      () => outbox.deadLetters(channelId),
      (letters) => letters.every(({ redriving }) => !redriving),
    );
    expect((await outbox.deadLetters(channelId)).map(({ attempts }) => attempts)).toEqual([2, 0, 0]);
  });

  it('is dropped after the third attempt where events are not to be kept', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })], { callback_persist: false });
    hook.behaviour = ({ number }) => (number === 1 ? 404 : 200);
    await publish(channelId, 2);
    await cursor(channelId, { position: 0, attempts: 1 });
    await again();
    await cursor(channelId, { position: 0, attempts: 2 });
    await again();
    await cursor(channelId, { position: 2 });
    expect(hook.numbers).toEqual([1, 1, 1, 2]);
    expect(await outbox.deadLetters(channelId)).toEqual([]);
    expect((await outbox.log(channelId)).at(2)).toBe('1.3 dropped 404 {}');
  });

  it('is signed, with the old secret too after a rotation, at every attempt', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    const secrets = new WebhookSecrets(outbox.database);
    await publish(channelId);
    await hook.received(1);
    const [before] = await secrets.valid(channelId);
    await cursor(channelId, { position: 1 });
    const [present] = await secrets.rotate(channelId, 60_000);
    await publish(channelId);
    await hook.received(2);
    const verify = (index: number, secret = ''): unknown => {
      const call = hook.calls[index];
      const header = (name: string): string => String(call?.headers[name]);
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      return new Webhook(secret).verify(
        JSON.stringify(call?.body),
        Object.fromEntries(names.map((name) => [name, header(name)])),
      );
    };
    expect(verify(0, before.secret)).toMatchObject({ channel_id: channelId });
    expect(() => verify(0, present?.secret)).toThrow();
    expect(verify(1, before.secret)).toEqual(verify(1, present?.secret));
    expect(hook.calls.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '2']);
  });

  it('keeps the first kilobyte of a long answer', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = (_call, response) => void response.writeHead(200).end(`${'x'.repeat(1_023)}ß${'y'.repeat(9_000)}`);
    await publish(channelId);
    await cursor(channelId, { position: 1 });
    expect(await outbox.log(channelId)).toEqual([`1.1 taken 200 ${'x'.repeat(1_023)}`]);
  });
});
