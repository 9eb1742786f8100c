import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const [ADA, BOB, EVE] = ['1@s.whatsapp.net', '2@s.whatsapp.net', '3@g.us'];
const HOUR_MS = 3_600_000;

describe('in the middle of a batch, when what was read is no longer new', () => {
  let outbox: TestOutbox;
  let running: RunningDispatcher;
  let hook: TestReceiver;
  const publish = async (channelId: string, count: number, chats: string[] = []): Promise<void> => {
    await outbox.write(channelId, count, 'messages.post', 0, chats);
    running.signal(channelId);
  };
  const doneAt = (channelId: string, position: number) =>
    outbox.cursorAtRest(channelId, (cursor) => cursor.position === position);
  const withHeader = (value: string) => webhook({ url: hook.url, headers: { 'X-Version': value } });
  const versions = (): unknown[] => hook.calls.map(({ headers }) => headers['x-version']);
  /** A channel with three events that its receiver did not accept in time. */
  const withDeadLetters = async (): Promise<string> => {
    const channelId = await outbox.channel([withHeader('old')]);
    hook.behaviour = () => 410;
    await outbox.write(channelId, 3);
    await outbox.age(channelId, 73 * HOUR_MS);
    running.signal(channelId);
    await doneAt(channelId, 3);
    hook.calls.length = 0;
    return channelId;
  };

  beforeAll(async () => {
    outbox = await TestOutbox.open();
    running = startDispatcher(outbox.url, {
      settings: {
        readAgainMs: 0,
        postTimeoutMs: 2_000,
        leaseMs: 8_000,
        runAhead: { mostEvents: 4, withinMs: 5, quickMs: 0 },
      },
    });
  });
  beforeEach(async () => {
    hook = await TestReceiver.open();
  });
  afterEach(() => hook.close());
  afterAll(async () => {
    await running.stop();
    await outbox.close();
  });

  it('changed settings hold from the next event on', async () => {
    const channelId = await outbox.channel([withHeader('old')]);
    hook.behaviour = async ({ number }) => {
      if (number === 2) await outbox.updateSettings(channelId, { webhooks: [withHeader('new')] });
      return 200;
    };
    await publish(channelId, 4);
    await doneAt(channelId, 4);
    expect(hook.numbers).toEqual([1, 2, 3, 4]);
    expect(versions()).toEqual(['old', 'old', 'new', 'new']);
  });

  it('and so they do from the next redrive on', async () => {
    const channelId = await withDeadLetters();
    hook.behaviour = async ({ number }) => {
      if (number === 1) await outbox.updateSettings(channelId, { webhooks: [withHeader('new')] });
      return 200;
    };
    await outbox.redrive(channelId, [1, 2, 3]);
    running.signal(channelId);
    await eventually(
      () => outbox.deadLetters(channelId),
      (letters) => letters.length === 0,
    );
    expect(hook.numbers).toEqual([1, 2, 3]);
    expect(versions()).toEqual(['old', 'new', 'new']);
  });

  it('and from the next held event on', async () => {
    const channelId = await outbox.channel([withHeader('old')]);
    hook.behaviour = ({ number }) => (number === 2 || number === 3 ? 500 : 200);
    await publish(channelId, 4, [EVE, ADA, BOB, EVE]);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 2);
    hook.behaviour = async ({ number }) => {
      if (number === 2) await outbox.updateSettings(channelId, { webhooks: [withHeader('new')] });
      return 200;
    };
    await outbox.passTime(HOUR_MS);
    running.dispatcher.sweepNow();
    await doneAt(channelId, 4);
    expect(hook.numbers).toEqual([1, 2, 3, 4, 2, 3]);
    expect(versions()).toEqual(['old', 'old', 'old', 'old', 'old', 'new']);
  });

  it('a held event whose time has come is tried', async () => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = async ({ number }) => {
      if (number === 1) return hook.calls.length === 1 ? 500 : 200;
      if (number === 3) await outbox.passTime(HOUR_MS, { leases: false });
      if (number === 5) await hook.until(() => hook.numbers.filter((each) => each === 1).length === 2);
      return 200;
    };
    await publish(channelId, 6, [ADA, BOB, BOB, BOB, BOB, BOB]);
    await doneAt(channelId, 6);
    expect(hook.numbers.filter((each) => each > 1)).toEqual([2, 3, 4, 5, 6]);
    expect(hook.numbers.filter((each) => each === 1)).toHaveLength(2);
  });

  it('redrives that were requested meanwhile go before the other events', async () => {
    const channelId = await withDeadLetters();
    hook.behaviour = async ({ number }) => {
      if (number === 5) await outbox.redrive(channelId, [2]);
      return 200;
    };
    await publish(channelId, 4);
    await doneAt(channelId, 7);
    expect(hook.numbers).toEqual([4, 5, 2, 6, 7]);
  });
});
