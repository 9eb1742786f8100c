import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

describe('a webhook that redirects', () => {
  let outbox: TestOutbox;
  let running: RunningDispatcher;
  let [hook, watcher, target]: TestReceiver[] = [];
  const opened: TestReceiver[] = [];
  const open = async (): Promise<TestReceiver> => {
    const receiver = await TestReceiver.open();
    opened.push(receiver);
    return receiver;
  };

  beforeAll(async () => {
    outbox = await TestOutbox.open();
    running = startDispatcher(outbox.url);
  });
  beforeEach(async () => {
    [hook, watcher, target] = await Promise.all([open(), open(), open()]);
  });
  afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));
  afterAll(async () => {
    await running.stop();
    await outbox.close();
  });

  it.each([301, 302, 303, 307, 308])(
    'by %i is not followed; where to is in its log, and in one notice to the channel',
    async (status) => {
      if (!hook || !watcher || !target) throw new Error('no receivers');
      const to = `http://user:secret@127.0.0.1:${target.port}/moved?key=1`;
      hook.behaviour = (_call, response) => void response.writeHead(status, { location: to }).end('moved');
      const channelId = await outbox.channel([
        webhook({ url: hook.url }),
        webhook({ url: watcher.url, events: [{ type: 'service' }] }),
      ]);
      await outbox.write(channelId, 2);
      running.signal(channelId);
      await watcher.received(1);
      const shown = `http://127.0.0.1:${target.port}/moved?key=1`;
      expect(watcher.calls[0]?.body).toMatchObject({
        event: { type: 'service', event: 'post' },
        errors: [{ code: status, message: 'webhook redirects are not followed' }],
      });
      expect(JSON.stringify(watcher.calls[0]?.body)).toContain(shown);
      const failed = (count: number) =>
        eventually(
          () => outbox.cursors(channelId),
          (cursors) => cursors.some(({ attempts }) => attempts === count) && cursors.every(({ leased }) => !leased),
        );
      await failed(1);
      await outbox.passTime(3_600_000);
      running.dispatcher.sweepNow();
      await failed(2);
      const log = (await outbox.log(channelId)).filter((line) => line.startsWith('1.'));
      const expected = [1, 2].map((attempt) => `1.${attempt} failed ${status} redirects to ${shown}`);
      expect(log.map((line, index) => line.slice(0, expected[index]?.length))).toEqual(expected);
      expect([hook.numbers, watcher.calls.length, target.calls]).toEqual([[1, 1], 1, []]);
      expect(JSON.stringify([log, watcher.calls])).not.toContain('secret');
      expect(JSON.stringify(running.logged)).not.toContain('127.0.0.1');
    },
  );

  it.each([
    ['without an address', undefined, undefined],
    ['to what is no address', 'http://[', undefined],
    ['to an address of its own host', '/elsewhere', '/elsewhere'],
    ['to an address without end', `/${'x'.repeat(5_000)}`, `/${'x'.repeat(400)}`],
  ])('%s is a failed attempt like others', async (_which, location, shown) => {
    if (!hook) throw new Error('no receiver');
    hook.behaviour = (_call, response) => void response.writeHead(302, location ? { location } : {}).end();
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    await outbox.write(channelId);
    running.signal(channelId);
    const [line = ''] = await eventually(
      () => outbox.log(channelId),
      (lines) => lines.length === 1,
    );
    if (shown === undefined) expect(line).toBe('1.1 failed 302 ');
    else expect(line).toContain(`redirects to http://127.0.0.1:${hook.port}${shown}`);
    expect(line.length).toBeLessThan(800);
  });
});
