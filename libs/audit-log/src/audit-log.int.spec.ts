import { openGlobalDatabase, transaction, type GlobalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import {
  anonymizeAudit,
  anonymizeAuditOfUser,
  appendAudit,
  deleteAuditOlderThan,
  listAudit,
  type AuditEntry,
  type AuditFilter,
} from './index.js';

const ANN = { kind: 'user', id: 'user_ann', name: 'ann@example.com' } as const;

describe('the audit log', () => {
  let store: TestStore;
  let database: GlobalDatabase;
  const append = (entry: Partial<AuditEntry> = {}) =>
    appendAudit(database.pool, { accountId: 'acc_1', actor: ANN, action: 'channel.create', ...entry });
  const actionsOf = async (filter: AuditFilter = {}, page: { before?: string; count: number } = { count: 100 }) =>
    (await listAudit(database.pool, 'acc_1', page, filter)).map(({ action }) => action);

  beforeAll(async () => {
    store = await createTestDatabase('global');
    database = openGlobalDatabase({ url: store.url, applicationName: 'audit-log-spec' });
  });
  beforeEach(() => database.pool.query('DELETE FROM audit_log'));
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  it('has an entry exactly if the transaction that it describes was committed', async () => {
    const failed = transaction(database, async (connection) => {
      await appendAudit(connection, { accountId: 'acc_1', actor: ANN, action: 'channel.delete' });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await transaction(database, (connection) =>
      appendAudit(connection, { accountId: 'acc_1', actor: ANN, action: 'channel.create' }),
    );
    expect(await actionsOf()).toEqual(['channel.create']);
  });

  it('returns an entry as it was given, and replaces characters that PostgreSQL does not store', async () => {
    const entry: AuditEntry = {
      accountId: 'acc_1',
      actor: { kind: 'key', id: 'key_1', name: 'CI\u0000' },
      action: 'member.change-role',
      object: { kind: 'member', id: 'user_bob' },
      address: '192.0.2.1',
      requestId: 'request-1',
      details: { role: 'viewer\ud800', keys_ended: 2, is_self: false, before: null },
    };
    await append(entry);
    const [stored] = await listAudit(database.pool, 'acc_1', { count: 1 });
    expect(stored).toEqual({
      ...entry,
      actor: { ...entry.actor, name: 'CI\ufffd' },
      details: { ...entry.details, role: 'viewer\ufffd' },
      id: expect.stringMatching(/^\d+$/) as string,
      at: expect.any(Date) as Date,
    });
  });

  it('lists newest first, page by page, and only what belongs to the account', async () => {
    for (const action of ['a.one', 'a.two', 'a.three']) await append({ action });
    await append({ accountId: 'acc_2', action: 'a.other' });
    await append({ accountId: null, action: 'user.sign-in' });
    const first = await listAudit(database.pool, 'acc_1', { count: 2 });
    expect(first.map(({ action }) => action)).toEqual(['a.three', 'a.two']);
    expect(await actionsOf({}, { before: first[1]?.id ?? '', count: 2 })).toEqual(['a.one']);
  });

  it('filters by action, or what it begins with, by actor, object and time', async () => {
    await append({ object: { kind: 'channel', id: 'OAK-22222' } });
    await append({ action: 'channel.delete', actor: { kind: 'key', id: 'key_1' } });
    await append({ action: 'channels-other' });
    await database.pool.query(`UPDATE audit_log SET at = now() - interval '1 hour' WHERE action = 'channels-other'`);
    expect(await actionsOf({ action: 'channel' })).toEqual(['channel.delete', 'channel.create']);
    expect(await actionsOf({ action: 'channel.delete' })).toEqual(['channel.delete']);
    expect(await actionsOf({ action: 'c%' })).toEqual([]);
    expect(await actionsOf({ actorId: 'key_1' })).toEqual(['channel.delete']);
    expect(await actionsOf({ objectId: 'OAK-22222' })).toEqual(['channel.create']);
    const before = new Date(Date.now() - 1_800_000);
    expect(await actionsOf({ to: before })).toEqual(['channels-other']);
    expect(await actionsOf({ from: before })).toEqual(['channel.delete', 'channel.create']);
  });

  it('deletes what is older than so many days, and nothing else', async () => {
    await append({ action: 'a.old' });
    await database.pool.query(`UPDATE audit_log SET at = now() - interval '401 days'`);
    await append({ action: 'a.young' });
    await database.pool.query(`UPDATE audit_log SET at = now() - interval '399 days' WHERE action = 'a.young'`);
    expect(await deleteAuditOlderThan(database.pool, 400)).toBe(1);
    expect(await actionsOf()).toEqual(['a.young']);
  });

  it('loses names, addresses and texts at the end of an account, and keeps who did what', async () => {
    const details = { address: 'bob@example.com', numbers: 2 };
    await append({ address: '192.0.2.1', details, object: { kind: 'invitation', id: 'inv_1' } });
    await append({ accountId: 'acc_2', address: '192.0.2.1' });
    await append({ accountId: null, action: 'user.sign-in', address: '192.0.2.2' });
    for (const _repeated of [1, 2]) await anonymizeAudit(database.pool, 'acc_1');
    const [entry] = await listAudit(database.pool, 'acc_1', { count: 1 });
    expect(entry).toMatchObject({
      actor: { kind: 'user', id: ANN.id },
      object: { id: 'inv_1' },
      details: { numbers: 2 },
    });
    expect(JSON.stringify(entry)).not.toMatch(/@|192\.0/);
    const [other] = await listAudit(database.pool, 'acc_2', { count: 1 });
    expect(other).toMatchObject({ actor: ANN, address: '192.0.2.1' });
    await anonymizeAuditOfUser(database.pool, ANN.id);
    const { rows } = await database.pool.query('SELECT * FROM audit_log');
    expect(JSON.stringify(rows)).not.toMatch(/@|192\.0/);
  });
});
