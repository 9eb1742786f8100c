import { deleteOldDeadLetters } from '@dormouse/event-outbox/delivery';
import { rowsOfPlan } from '@dormouse/stack/test-stores';
import { Retention } from './retention.js';
import { intercepted } from './testing/intercepted-database.js';
import { TestOutbox } from './testing/test-outbox.js';
import { webhook } from './testing/test-dispatcher.js';

const DAY_S = 86_400;
const silent = { info: () => undefined, warn: () => undefined };

describe('Retention', () => {
  let outbox: TestOutbox;
  const left = async (channelId: string): Promise<number[]> => {
    const { rows } = await outbox.database.pool.query<{ seq: string }>(
      'SELECT seq FROM events WHERE channel_id = $1 ORDER BY seq',
      [channelId],
    );
    return rows.map(({ seq }) => Number(seq));
  };
  const movePosition = (channelId: string, position: number) =>
    outbox.database.pool.query('UPDATE webhook_cursors SET position = $2 WHERE channel_id = $1', [channelId, position]);
  /** Rows that single statements deleted. */
  const batches: number[] = [];
  const sweep = () => {
    const query = async (what: { name: string; text: string; values: unknown[] }) => {
      const answer = await outbox.database.pool.query(what);
      if (what.name.startsWith('delete-')) batches.push(answer.rowCount ?? 0);
      return answer;
    };
    const pool = new Proxy(outbox.database.pool, {
      get: (target, name): unknown => (name === 'query' ? query : Reflect.get(target, name, target)),
    });
    return new Retention({ pool }, silent, { batch: 2, pauseMs: 0 }).sweep();
  };

  beforeEach(async () => {
    outbox = await TestOutbox.open();
  });
  afterEach(() => outbox.close());

  it('deletes events after a week, in batches, and no younger ones', async () => {
    const [moved, unmoved] = [await outbox.channel([webhook({ url: 'http://127.0.0.1:9' })]), await outbox.channel([])];
    for (const id of [moved, unmoved]) {
      await outbox.write(id, 5, 'messages.post', 8 * DAY_S);
      await outbox.write(id, 2, 'messages.post', 6 * DAY_S);
    }
    await movePosition(moved, 7);
    expect(await sweep()).toMatchObject({ events: 10 });
    expect(Math.max(...batches)).toBe(2);
    expect([await left(moved), await left(unmoved)]).toEqual([
      [6, 7],
      [6, 7],
    ]);
  });

  it('keeps what one of the webhooks has not accepted, and dead letters', async () => {
    const hooks = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'].map((url) => webhook({ url }));
    const id = await outbox.channel(hooks);
    await outbox.write(id, 6, 'messages.post', 9 * DAY_S);
    await movePosition(id, 6);
    await outbox.database.pool.query(
      `UPDATE webhook_cursors SET position = 4 WHERE webhook_id = (SELECT min(webhook_id) FROM webhook_cursors)`,
    );
    await outbox.database.pool.query(
      `INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts) SELECT channel_id, webhook_id, 2, 1
       FROM webhook_cursors LIMIT 1`,
    );
    await sweep();
    expect(await left(id)).toEqual([2, 5, 6]);
  });

  it('lets dead letters go after a month and the delivery log after a week', async () => {
    const id = await outbox.channel([webhook({ url: 'http://127.0.0.1:9' })]);
    await outbox.write(id, 2, 'messages.post', 40 * DAY_S);
    await movePosition(id, 2);
    const { pool } = outbox.database;
    await pool.query(
      `INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, died_at)
       SELECT channel_id, webhook_id, seq, 1, now() - seq * interval '20 days' FROM webhook_cursors, generate_series(1, 2) AS seq`,
    );
    await pool.query(
      `INSERT INTO webhook_attempts (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, took_ms, at)
       SELECT channel_id, webhook_id, n, gen_random_uuid(), 'messages', 'post', 1, 'taken', 5, now() - (10 - n) * interval '1 day' + interval '1 hour'
       FROM webhook_cursors, generate_series(1, 5) AS n`,
    );
    expect(await sweep()).toEqual({ events: 1, attempts: 2, deadLetters: 1 });
    expect(await left(id)).toEqual([1]);
    expect((await pool.query('SELECT 1 FROM webhook_attempts')).rowCount).toBe(3);
  });

  it.each([
    ['delete-dead-letters', 'deadLetters'],
    ['delete-attempts', 'attempts'],
    ['channels-with-events', 'events'],
    ['delete-events', 'events'],
  ])('deletes all else that is old when %s fails, and reports what stays', async (failing, what) => {
    const id = await outbox.channel([webhook({ url: 'http://127.0.0.1:9' })]);
    await outbox.write(id, 2, 'messages.post', 40 * DAY_S);
    await movePosition(id, 2);
    const { pool } = outbox.database;
    await pool.query(`INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, died_at)
      SELECT channel_id, webhook_id, 9, 1, now() - interval '40 days' FROM webhook_cursors`);
    await pool.query(`INSERT INTO webhook_attempts (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, took_ms, at)
      SELECT channel_id, webhook_id, 1, gen_random_uuid(), 'messages', 'post', 1, 'taken', 5, now() - interval '9 days'
      FROM webhook_cursors`);
    const database = intercepted(outbox.database, {
      before: async (name) => {
        if (name === failing) throw new Error('canceled');
      },
    });
    const warned: object[] = [];
    const log = { info: () => undefined, warn: (facts: object) => void warned.push(facts) };
    const all = { events: 2, attempts: 1, deadLetters: 1 };
    expect(await new Retention(database, log).sweep()).toEqual({ ...all, [what]: 0 });
    expect(warned).toEqual([{ what, reason: 'canceled' }]);
    expect(await sweep()).toEqual({ events: 0, attempts: 0, deadLetters: 0, [what]: all[what as keyof typeof all] });
  });

  it('looks at old dead letters alone, however many there are', async () => {
    const { pool } = outbox.database;
    await pool.query(`INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, died_at)
      SELECT 'C' || n % 50, 'w', n, 1, now() - CASE WHEN n % 5000 = 0 THEN 40 ELSE 5 END * interval '1 day'
      FROM generate_series(1, 20000) AS n`);
    await pool.query('ANALYZE dead_letters');
    const read: number[] = [];
    const query = async ({ text, values }: { text: string; values: unknown[] }) => {
      read.push((await rowsOfPlan(pool, text, values)).read);
      return { rows: [], rowCount: 0 };
    };
    const explaining = new Proxy(pool, {
      get: (target, name): unknown => (name === 'query' ? query : Reflect.get(target, name, target)),
    });
    await deleteOldDeadLetters(explaining, 30 * DAY_S * 1_000, 100);
    expect(read).toEqual([expect.any(Number)]);
    expect(Math.max(...read)).toBeLessThan(100);
    expect((await pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(20_000 - 4);
  });
});
