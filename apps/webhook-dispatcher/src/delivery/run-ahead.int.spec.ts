import { freezable, intercepted } from '../testing/intercepted-database.js';
import { eventually } from '../testing/eventually.js';
import type { RunningDispatcher } from '../testing/test-dispatcher.js';
import type { TestOutbox } from '../testing/test-outbox.js';
import type { TestReceiver } from '../testing/test-receiver.js';
import { TestRegion, upTo } from '../testing/test-region.js';

jest.setTimeout(30_000);

describe('a dispatcher ahead of what is recorded', () => {
  let region: TestRegion;
  let outbox: TestOutbox;
  let hook: TestReceiver;

  beforeEach(async () => {
    region = await TestRegion.open();
    ({ outbox, hook } = region);
  });
  afterEach(() => region.close());

  it('killed while a quick receiver is ahead has as many delivered again as it may be ahead, and none lost', async () => {
    const [id = ''] = await region.channels(1);
    const frozen: { until?: Promise<void> } = {};
    let thaw: () => void = () => undefined;
    const runAhead = { mostEvents: 4, withinMs: 5, quickMs: 1_000 };
    const dying = region.start({
      settings: { leaseMs: 16_000, runAhead },
      wrap: (database) => freezable(database, frozen),
    });
    await outbox.write(id); // gives the channel its secret
    dying.signal(id);
    await region.allAt([id], 1);
    hook.behaviour = () => {
      if (hook.calls.length === 3) frozen.until = new Promise((resolve) => (thaw = resolve));
      return 200;
    };
    await outbox.write(id, 19);
    dying.signal(id);
    // What was sent before still arrives; then it may not go on.
    const [recorded] = await eventually(
      () => outbox.cursors(id),
      ([cursor]) => cursor !== undefined && hook.calls.length === cursor.position + runAhead.mostEvents,
    );
    const next = region.start();
    await outbox.passTime(16_000);
    next.dispatcher.sweepNow();
    await region.allAt([id], 20);
    const from = recorded?.position ?? 0;
    expect(hook.numbers).toEqual([...upTo(from + runAhead.mostEvents), ...upTo(20).slice(from)]);
    expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(20);
    thaw();
    await dying.dispatcher.idle();
    expect(await outbox.cursors(id)).toMatchObject([{ position: 20, leased: false }]);
    expect(hook.calls).toHaveLength(20 + runAhead.mostEvents);
  });

  it.each([
    ['slow', 0, 1],
    ['quick', 1_000, 4],
  ])(
    'posts no further ahead of what is recorded to a %s receiver when every event is announced during the one before',
    async (_pace, quickMs, most) => {
      const [id = ''] = await region.channels(1);
      const running = region.start({ settings: { runAhead: { mostEvents: 4, withinMs: 60_000, quickMs } } });
      const ahead: number[] = [];
      hook.behaviour = async ({ number }) => {
        const [cursor] = await outbox.cursors(id);
        ahead.push(number - (cursor?.position ?? 0));
        if (number === 12) return 200;
        await outbox.write(id);
        running.signal(id);
        return 200;
      };
      await outbox.write(id);
      running.signal(id);
      await hook.received(12);
      await region.allAt([id], 12);
      expect(hook.numbers).toEqual(upTo(12));
      expect(Math.max(...ahead)).toBeLessThanOrEqual(most);
    },
  );

  it('records within a moment what was accepted, while the cursor is kept for events that the webhook does not want', async () => {
    const [id = ''] = await region.channels(1);
    const writes: unknown[] = [];
    let reads = 0;
    const running: RunningDispatcher = region.start({
      wrap: (database) =>
        intercepted(database, {
          before: async (name) => {
            if (name !== 'pending-events' || writes.length > 0 || (reads += 1) > 200) return;
            await outbox.write(id, 1, 'chats.post');
            running.signal(id);
          },
          after: (name) => {
            if (['advance-cursor', 'finish-cursor'].includes(String(name))) writes.push(name);
          },
        }),
    });
    await outbox.write(id);
    running.signal(id);
    await hook.received(1);
    await running.dispatcher.idle();
    // What is passed over after the first record may be recorded by itself, too.
    expect([writes[0], writes.at(-1)]).toEqual(['advance-cursor', 'finish-cursor']);
  });
});
