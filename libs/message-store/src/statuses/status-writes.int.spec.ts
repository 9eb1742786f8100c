import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import type { MessageStatus } from '@dormouse/gateway-contract';
import { channelTransaction } from '../events/channel-transaction.js';
import { ADA, GROUP, own } from '../example-records.js';
import { MessageReader } from '../messages/message-reader.js';
import { MessageWriter } from '../messages/message-writer.js';
import { UNCONFIRMED, UNREADABLE, type ReceiptStatus, type StatusReport } from './status-ladder.js';
import { isSimpleStatus, statusWrites, writeStatuses } from './status-writes.js';

describe('the status of an own message', () => {
  let database: RegionalDatabase;
  let writer: MessageWriter;
  let reader: MessageReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'status-writes-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
    writer = new MessageWriter({ database });
    reader = new MessageReader({ database });
    await writer.recordHistory(fence, channel, { chats: [{ id: ADA }, { id: GROUP }] });
  });

  const sent = (status: MessageStatus, chat = ADA) =>
    writer.recordMessage(fence, channel, own('K', { status, chat_id: chat }));
  const report = (status: ReceiptStatus, viewerId?: string, errors?: StatusReport['errors']): StatusReport => ({
    keyId: 'K',
    status,
    timestamp: 107,
    ...(viewerId !== undefined && { viewerId }),
    ...(errors && { errors }),
  });
  /** Steps that have been notified of, after those counted. */
  const steps = async (after = 1) =>
    (await reader.events(channel, after, 100)).map(({ payload }) => {
      const [entry] = payload['statuses'] as { status: string; viewer_id?: string }[];
      return `${entry?.status}${entry?.viewer_id === undefined ? '' : `:${entry.viewer_id}`}`;
    });
  const walk = async (...reports: StatusReport[]) => {
    for (const each of reports) await writer.recordStatuses(fence, channel, [each]);
    return steps();
  };
  const status = async () => (await reader.message(channel, 'id-K'))?.status;

  it('goes pending, sent, delivered, read, played, and never backwards or to the same again', async () => {
    await sent('pending');
    const forward = [report('sent'), report('delivered'), report('read'), report('played')];
    expect(await walk(...forward, ...[...forward].reverse())).toEqual(['sent', 'delivered', 'read', 'played']);
    expect(await status()).toBe('played');
  });

  it('is sent before the first receipt when the receipt comes first', async () => {
    await sent('pending', GROUP);
    expect(await walk(report('read', 'a'), report('sent'))).toEqual(['sent', 'read:a']);
  });

  it('is the furthest that any viewer in a group reached; each viewer goes its own way', async () => {
    await sent('sent', GROUP);
    const reports = [report('read', 'a'), report('delivered', 'b'), report('delivered', 'a'), report('played', 'b')];
    expect(await walk(...reports)).toEqual(['read:a', 'delivered:b', 'played:b']);
    expect(await status()).toBe('played');
  });

  it('fails only while it is pending, once, and stays failed', async () => {
    await sent('pending');
    const refused = report('failed', undefined, [{ code: 463, message: 'refused' }]);
    expect(await walk(refused, refused, report('delivered'))).toEqual(['failed']);
    expect(await status()).toBe('failed');
    channel = `${channel}-sent`;
    await writer.recordHistory(fence, channel, { chats: [{ id: ADA }] });
    await sent('sent');
    expect(await walk(refused)).toEqual([]);
  });

  it('leaves a failure that was concluded from silence with the first proof that it was none', async () => {
    await sent('pending');
    const silence = report('failed', undefined, [UNCONFIRMED]);
    expect(await walk(silence, report('delivered'), silence, report('read'))).toEqual([
      'failed',
      'sent',
      'delivered',
      'read',
    ]);
    expect(await status()).toBe('read');
  });

  it('fails after it was sent where the only viewer cannot read it, once, and not where it was received', async () => {
    await sent('sent');
    const unable = report('failed', '15550001111', [UNREADABLE]);
    expect(await walk(unable, unable)).toEqual(['failed']);
    expect(await status()).toBe('failed');
    expect(await walk(report('delivered'), unable)).toEqual(['failed', 'delivered']);
    expect(await status()).toBe('delivered');
  });

  it('is not changed by a member of a group who cannot read it, which each fails once and not after it received it', async () => {
    await sent('sent', GROUP);
    const unable = (viewerId: string) => report('failed', viewerId, [UNREADABLE]);
    expect(await walk(unable('a'), unable('a'), report('delivered', 'b'), unable('b'))).toEqual([
      'failed:a',
      'delivered:b',
    ]);
    expect(await status()).toBe('delivered');
  });

  it('ends with deleted', async () => {
    await sent('deleted');
    const reports = [report('read'), report('read', 'a'), report('failed', undefined, [UNCONFIRMED])];
    expect(await walk(...reports)).toEqual([]);
    expect(await status()).toBe('deleted');
  });

  it('follows failures and receipts that were stored before the message', async () => {
    await walk(report('read', 'a'), report('failed', 'b', [UNREADABLE]), report('delivered', 'a'));
    expect(await steps(0)).toEqual([]);
    await writer.recordMessage(fence, channel, own('K', { status: 'sent', chat_id: GROUP, source: 'mobile' }));
    expect(await steps()).toEqual(['failed:b', 'delivered:a', 'read:a']);
    expect(await walk(report('delivered', 'a'), report('failed', 'b', [UNREADABLE]))).toHaveLength(3);
  });

  it('takes the same steps whether reports are written one by one, together, or in a transaction', async () => {
    const simple = (statuses: readonly ReceiptStatus[]) => statuses.map((each) => report(each));
    const walks = Array.from({ length: 20 }, () =>
      simple(
        Array.from({ length: 5 }, () => (['sent', 'delivered', 'read', 'played'] as const)[randomInt(4)] ?? 'sent'),
      ),
    );
    const statuses = statusWrites(database.pool);
    for (const [index, reports] of walks.entries()) {
      expect(reports.every(isSimpleStatus)).toBe(true);
      const ways = [
        async () => void (await walk(...reports)),
        async () => void (await statuses.write({ fence, channelId: channel, reports })),
        () =>
          channelTransaction(database, fence, channel, async (transaction) => {
            await writeStatuses(transaction, reports);
          }),
      ];
      const outcomes = [];
      for (const [way, write] of ways.entries()) {
        channel = `${fence.shard}-${index}-${way}`;
        await writer.recordHistory(fence, channel, { chats: [{ id: ADA }] });
        await sent('pending');
        await write();
        outcomes.push([await steps(), await reader.statuses(channel, 'id-K'), await status()]);
      }
      expect(outcomes[1]).toEqual(outcomes[0]);
      expect(outcomes[2]).toEqual(outcomes[0]);
    }
  });
});
