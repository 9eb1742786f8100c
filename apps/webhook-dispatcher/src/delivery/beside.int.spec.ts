import { intercepted } from '../testing/intercepted-database.js';
import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const [ADA, BOB] = ['1@s.whatsapp.net', '2@s.whatsapp.net'];
const HOUR_MS = 3_600_000;

describe('attempts at held events, beside new ones', () => {
  let outbox: TestOutbox;
  let hook: TestReceiver;
  let running: RunningDispatcher;
  let beforeStatement: (name: unknown) => Promise<void>;
  const write = async (channelId: string, ...chats: string[]): Promise<void> => {
    await outbox.write(channelId, chats.length, 'messages.post', 0, chats);
    running.signal(channelId);
  };
  /** A channel whose first event was refused once and is due. */
  const withDue = async (): Promise<string> => {
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    hook.behaviour = () => 500;
    await write(channelId, ADA);
    await outbox.cursorAtRest(channelId, ({ held }) => held.length === 1);
    await outbox.passTime(HOUR_MS);
    return channelId;
  };

  beforeEach(async () => {
    beforeStatement = async () => undefined;
    outbox = await TestOutbox.open();
    hook = await TestReceiver.open();
    running = startDispatcher(outbox.url, {
      settings: { readAgainMs: 0 },
      wrap: (database) => intercepted(database, { before: (name) => beforeStatement(name) }),
    });
  });
  afterEach(async () => {
    await running.stop();
    await hook.close();
    await outbox.close();
  });

  it('are waited for when the delivery of new ones breaks off, and recorded', async () => {
    const channelId = await withDue();
    const order: string[] = [];
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    hook.behaviour = async () => {
      await answered;
      order.push('answered');
      return 200;
    };
    beforeStatement = async (name) => {
      if (name !== 'pending-events') return;
      await hook.received(2);
      order.push('broken off');
      throw new Error('spec');
    };
    running.signal(channelId);
    await hook.received(2);
    const idle = running.dispatcher.idle().then(() => order.push('idle'));
    // More than enough for it to become idle, if it did not wait.
    for (let looks = 0; looks < 50; looks += 1) await outbox.cursors(channelId);
    answer();
    await idle;
    expect(order).toEqual(['broken off', 'answered', 'idle']);
    expect(await outbox.log(channelId)).toEqual(['1.1 failed 500 {}', '1.2 taken 200 {}']);
    expect(running.logged.at(-1)?.message).toBe('delivery interrupted; goes on when its lease has run out');
  });

  it('that show that the receiver is away end the delivery, though more events are announced meanwhile', async () => {
    const channelId = await withDue();
    hook.behaviour = (_call, response) => void response.destroy();
    let reads = 0;
    beforeStatement = async (name) => {
      if (name !== 'pending-events' || (reads += 1) > 1) return;
      await eventually(
        () => outbox.log(channelId),
        (lines) => lines.length === 2,
      );
      running.signal(channelId);
    };
    running.signal(channelId);
    await running.dispatcher.idle();
    await write(channelId, BOB);
    await running.dispatcher.idle();
    expect(new Set(hook.numbers)).toEqual(new Set([1]));
    expect(await outbox.log(channelId)).toEqual(['1.1 failed 500 {}', '1.2 failed connection lost']);
  });
});
