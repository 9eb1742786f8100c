import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, transaction, type Fence, type RegionalDatabase } from '@dormouse/database';
import { ADA, incoming, own } from '../example-records.js';
import { MessageReader } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import type { StatusReport } from '../statuses/status-ladder.js';

jest.setTimeout(30_000);

describe('sends of many channels at the same time', () => {
  let database: RegionalDatabase;
  let writer: MessageWriter;
  let reader: MessageReader;
  let channels: string[];
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const otherShard: Fence = { shard: shard + 1, epoch: 7n };
  /** The named statements that ran. */
  let ran: string[];

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'grouped-sends-spec',
      maxConnections: 10,
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5), ($2, 7)', [shard, shard + 1]);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    channels = Array.from({ length: 8 }, () => `CH-${randomBytes(6).toString('hex')}`);
    writer = new MessageWriter({ database });
    reader = new MessageReader({ database, now: () => 1_790_000_000_000 });
    for (const channel of channels) {
      const contacts = [{ id: '15550001111', name: 'Ada' }];
      await writer.recordHistory(fence, channel, { chats: [{ id: ADA }], contacts });
      await writer.recordMessage(fence, channel, own('FIRST'));
    }
    ran = [];
    const query = database.pool.query.bind(database.pool);
    jest.spyOn(database.pool, 'query').mockImplementation((...given: unknown[]) => {
      const [statement] = given;
      if (typeof statement === 'object' && statement !== null && 'name' in statement) ran.push(String(statement.name));
      return Reflect.apply(query, undefined, given) as never;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const send = (keyId: string) => (channel: string) => writer.recordMessage(fence, channel, own(keyId));
  const reports = (keyId: string): StatusReport[] => [
    { keyId, status: 'sent', timestamp: 101 },
    { keyId, status: 'delivered', timestamp: 102 },
  ];
  const step = (keyId: string) => (channel: string) => writer.recordStatuses(fence, channel, reports(keyId));
  const eventsOf = async (channel: string) =>
    (await reader.events(channel, 0, 100)).map(({ seq, type, payload }) => ({ seq, type, payload }));

  /** All that a channel has of its messages, apart from its name and the clock. */
  const stored = async (channel: string) => {
    const tables = ['messages', 'receipts', 'chats', 'contacts'].map(async (table) => {
      const { rows } = await database.pool.query<Record<string, unknown>>(
        `SELECT * FROM ${table} WHERE channel_id = $1 ORDER BY 2, 3, 4`,
        [channel],
      );
      return rows.map(({ channel_id: _channel, created_at: _created, ...row }) => row);
    });
    return [await eventsOf(channel), ...(await Promise.all(tables))];
  };

  it('are written together, and store and notify of the same as one that is written alone', async () => {
    const [alone, ...together] = channels;
    const written = await Promise.all(channels.map(send('O1')));
    expect(written).toEqual(channels.map(() => ({ seqs: [2], ids: ['id-O1'] })));
    const stepped = await Promise.all(channels.map(step('O1')));
    expect(stepped).toEqual(channels.map(() => ({ seqs: [3, 4] })));
    expect(ran).toEqual(['own-send', 'own-sends', 'status-steps', 'status-steps-of-many']);
    expect(await eventsOf(alone ?? '')).toHaveLength(4);
    for (const channel of together) {
      expect(await stored(channel)).toEqual(await stored(alone ?? ''));
    }
    expect(await reader.message(alone ?? '', 'id-O1')).toMatchObject({ status: 'delivered', chat_name: 'Ada' });
  });

  it('store and notify of the same whether messages are written as sends, one by one, or in a transaction', async () => {
    const [asSends = '', inTransaction = '', oneByOne = ''] = channels;
    const phone = { source: 'mobile', status: 'sent' } as const;
    const received = (keyId: string, timestamp: number) => incoming(keyId, { timestamp });
    const sends = [own('O1'), own('O2', { timestamp: 50 })];
    const others = [
      received('A1', 103),
      own('P1', { ...phone, timestamp: 104 }),
      received('A2', 104),
      received('A3', 90),
    ];
    for (const record of sends) await writer.recordMessage(fence, asSends, record);
    await writer.recordMessages(fence, inTransaction, sends);
    expect(ran.filter((name) => name === 'own-send')).toHaveLength(2);
    expect(await stored(inTransaction)).toEqual(await stored(asSends));
    await writer.recordMessages(fence, inTransaction, others);
    for (const record of [...sends, ...others]) await writer.recordMessage(fence, oneByOne, record);
    expect(await stored(oneByOne)).toEqual(await stored(inTransaction));
    expect(await reader.chat(oneByOne, ADA)).toMatchObject({
      unread: 2,
      last_message: { id: 'id-A2' },
      timestamp: 104,
    });
  });

  it('take the same steps whether a report comes alone or with others, none twice', async () => {
    await Promise.all(channels.map(send('O1')));
    await Promise.all(channels.map(step('O1')));
    expect(await Promise.all(channels.map(step('O1')))).toEqual(channels.map(() => ({ seqs: [] })));
    const read: StatusReport[] = [{ keyId: 'O1', status: 'read', timestamp: 103 }];
    const steps = await Promise.all(channels.map((channel) => writer.recordStatuses(fence, channel, read)));
    expect(steps).toEqual(channels.map(() => ({ seqs: [5] })));
    for (const channel of channels) expect((await reader.message(channel, 'id-O1'))?.status).toBe('read');
  });

  it('pass over a channel that somebody else writes in, which follows as soon as it can', async () => {
    const [, , busy, ...others] = channels;
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let locked = (): void => undefined;
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const somebody = transaction(database, async (connection) => {
      await connection.query('SELECT FROM event_sequences WHERE channel_id = $1 FOR UPDATE', [busy]);
      locked();
      await held;
    });
    await isLocked;
    const settled: string[] = [];
    const all = channels.map(async (channel) => {
      await send('O1')(channel);
      await step('O1')(channel);
      settled.push(channel);
    });
    await Promise.all(all.filter((_, index) => channels[index] !== busy));
    expect(settled).not.toContain(busy);
    expect(settled).toEqual(expect.arrayContaining(others));
    letGo();
    await Promise.all([somebody, ...all]);
    expect((await eventsOf(busy ?? '')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('refuse those of a shard that has a newer owner, and no other', async () => {
    const fenceOf = (channel: string): Fence =>
      channels.indexOf(channel) % 2 === 0 ? fence : { ...otherShard, epoch: 6n };
    const outcomes = await Promise.allSettled(
      channels.map((channel) => writer.recordMessage(fenceOf(channel), channel, own('O1'))),
    );
    const steppedAll = await Promise.allSettled(
      channels.map((channel) => writer.recordStatuses(fenceOf(channel), channel, reports('FIRST'))),
    );
    expect(ran).toEqual(expect.arrayContaining(['own-sends', 'status-steps-of-many']));
    for (const [index, channel] of channels.entries()) {
      const replaced = index % 2 === 1;
      for (const outcome of [outcomes[index], steppedAll[index]]) {
        expect(outcome?.status === 'rejected' && outcome.reason instanceof FencedError).toBe(replaced);
      }
      expect((await eventsOf(channel)).length).toBe(replaced ? 1 : 4);
    }
  });

  it('lose nothing to one that cannot be written with them', async () => {
    const [, twice = '', first = ''] = channels;
    await send('O1')(twice); // its row is there already
    await database.pool.query('DELETE FROM chats WHERE channel_id = $1', [first]); // its first message is written in a transaction
    const written = await Promise.all(channels.map(send('O1')));
    for (const [index, channel] of channels.entries()) {
      const seqs = channel === twice ? [] : channel === first ? [2, 3] : [2];
      expect(written[index]?.seqs).toEqual(seqs);
      expect((await reader.message(channel, 'id-O1'))?.id).toBe('id-O1');
      const numbers = (await eventsOf(channel)).map(({ seq }) => seq);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    }
  });

  it('leave a report of a message that is not known to a transaction, which stores it', async () => {
    await Promise.all(channels.map(step('LATER')));
    expect(ran).toContain('status-steps-of-many');
    const [channel = ''] = channels.slice(1);
    await writer.recordMessage(fence, channel, own('LATER', { source: 'mobile' }));
    expect((await reader.message(channel, 'id-LATER'))?.status).toBe('delivered');
  });
});
