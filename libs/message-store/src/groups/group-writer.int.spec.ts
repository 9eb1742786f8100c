import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { incoming } from '../example-records.js';
import { GroupReader } from './group-reader.js';
import type { GroupRecord, MemberRecord, RequestAction } from './group-record.js';
import { GroupWriter } from './group-writer.js';
import { MessageReader } from '../messages/message-reader.js';
import { MessageWriter } from '../messages/message-writer.js';

const ID = '120363000000000001@g.us';
const SHOP: MemberRecord = { jid: '900000000009@lid', phone: '15550009999', lid: '900000000009', rank: 'creator' };
const ADA: MemberRecord = { jid: '900000000001@lid', phone: '15550001111', lid: '900000000001', rank: 'member' };
const BO: MemberRecord = { jid: '900000000002@lid', lid: '900000000002', rank: 'member' };

function group(change: Partial<GroupRecord> & { name?: string } = {}): GroupRecord {
  return {
    id: change.id ?? ID,
    member: change.member ?? true,
    members: change.members ?? [SHOP, ADA],
    facts: {
      name: change.name ?? 'Example Group',
      createdAt: 1_789_991_000,
      createdBy: '15550009999',
      nameAt: 1_789_991_000,
      restricted: false,
      announcements: false,
      membersMayAdd: false,
      approval: false,
      ephemeralS: 0,
      communityAnnounce: false,
      isParent: false,
      addressing: 'lid',
      ...change.facts,
    },
  };
}

describe('groups', () => {
  let database: RegionalDatabase;
  let writer: GroupWriter;
  let reader: GroupReader;
  let channel: string;
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence: Fence = { shard, epoch: 5n };
  const notified = async () =>
    (await new MessageReader({ database }).events(channel, 0, 100)).map(({ method, payload }) => ({ method, payload }));

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'groups-spec',
      maxConnections: 5,
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [shard]);
  });
  afterAll(() => database.close());
  beforeEach(() => {
    channel = `CH-${randomBytes(6).toString('hex')}`;
    writer = new GroupWriter({ database });
    reader = new GroupReader({ database });
  });

  it('shows a group with what is known of its chat, and makes an event of being in it', async () => {
    await writer.recordGroups(fence, channel, [group()]);
    await new MessageWriter({ database }).recordMessage(fence, channel, incoming('G1', { chat_id: ID }));
    expect(await reader.group(channel, ID)).toMatchObject({
      id: ID,
      name: 'Example Group',
      type: 'group',
      unread: 1,
      last_message: { id: 'id-G1', chat_name: 'Example Group' },
      participants: [
        { id: '15550009999', rank: 'creator' },
        { id: '15550001111', rank: 'member' },
      ],
      participants_count: 2,
      created_by: '15550009999',
      adminAddMemberMode: false,
    });
    expect((await notified())[0]).toMatchObject({
      method: 'post',
      payload: { groups: [{ id: ID, participants_count: 2 }] },
    });
  });

  it('lists the groups the channel is in, the last active first, by pages', async () => {
    const ids = [1, 2, 3].map((n) => `12036300000000000${n}@g.us`);
    await writer.recordGroups(
      fence,
      channel,
      ids.map((id) => group({ id, member: id !== ids[1] })),
      { quiet: true },
    );
    await new MessageWriter({ database }).recordMessage(
      fence,
      channel,
      incoming('G1', { chat_id: ids[2] ?? '', timestamp: 1_790_000_000 }),
    );
    const list = await reader.listGroups(channel, { count: 1, offset: 0 });
    expect(list).toMatchObject({ groups: [{ id: ids[2] }], count: 1, total: 2, offset: 0 });
    expect((await reader.listGroups(channel, { count: 1, offset: 1 })).groups[0]?.id).toBe(ids[0]);
    expect(await reader.group(channel, ids[1] ?? '')).toBeUndefined();
    expect((await notified()).filter(({ payload }) => 'groups' in payload)).toEqual([]);
  });

  it('makes one event of a change, however often it is received', async () => {
    await writer.recordGroups(fence, channel, [group()], { quiet: true });
    const add = (before: GroupRecord) => ({
      ...before,
      members: [...before.members.filter(({ jid }) => jid !== BO.jid), BO],
    });
    const rename = (before: GroupRecord) => ({ ...before, facts: { ...before.facts, name: 'New Name' } });
    for (const change of [add, add, rename, rename]) await writer.changeGroup(fence, channel, ID, change);
    expect(await notified()).toEqual([
      {
        method: 'put',
        payload: { groups_participants: [{ group_id: ID, participants: ['900000000002@lid'], action: 'add' }] },
      },
      {
        method: 'patch',
        payload: {
          groups_updates: [
            {
              before_update: { id: ID, name: 'Example Group' },
              after_update: { id: ID, name: 'New Name' },
              changes: ['name'],
            },
          ],
        },
      },
    ]);
    expect((await new MessageReader({ database }).chat(channel, ID))?.name).toBe('New Name');
  });

  it('notifies of who was promoted, demoted and removed', async () => {
    const admin: MemberRecord = { ...ADA, rank: 'admin' };
    await writer.recordGroups(fence, channel, [group()], { quiet: true });
    await writer.changeGroup(fence, channel, ID, (before) => ({ ...before, members: [SHOP, admin] }));
    await writer.changeGroup(fence, channel, ID, (before) => ({ ...before, members: [SHOP, ADA] }));
    await writer.changeGroup(fence, channel, ID, (before) => ({ ...before, members: [SHOP] }));
    const actions = (await notified()).map(
      ({ payload }) => (payload.groups_participants as { action: string }[])[0]?.action,
    );
    expect(actions).toEqual(['promote', 'demote', 'remove']);
  });

  it('notifies once of each step of a request to join, also when the group is described anew in between', async () => {
    const asks = (action: RequestAction | undefined) => (before: GroupRecord) => {
      const { requests: _, ...facts } = before.facts;
      return { ...before, facts: { ...facts, ...(action && { requests: [['15550004444', action] as const] }) } };
    };
    await writer.recordGroups(fence, channel, [group()], { quiet: true });
    for (const action of ['request', 'request', 'rejected_request', 'request'] as const) {
      await writer.changeGroup(fence, channel, ID, asks(action));
      await writer.recordGroups(fence, channel, [group()]);
    }
    const dee: MemberRecord = { jid: '900000000004@lid', phone: '15550004444', lid: '900000000004', rank: 'member' };
    await writer.recordGroups(fence, channel, [group({ members: [SHOP, ADA, dee] })]);
    expect((await writer.find(channel, ID))?.facts.requests).toBeUndefined();
    const actions = (await notified()).map(({ payload }) => payload.groups_participants);
    expect(actions).toEqual(
      ['request', 'rejected_request', 'request', 'add'].map((action) => [
        { group_id: ID, participants: ['15550004444'], action },
      ]),
    );
  });

  it('refuses an answer of the network that was overtaken by a change', async () => {
    await writer.recordGroups(fence, channel, [group()]);
    const versions = await writer.versions(channel);
    await writer.changeGroup(fence, channel, ID, (before) => ({ ...before, members: [SHOP] }));
    const late = await writer.recordGroups(fence, channel, [group({ name: 'Late' })], { versions });
    expect(late.overtaken).toEqual([ID]);
    expect(await reader.group(channel, ID)).toMatchObject({ name: 'Example Group', participants_count: 1 });
  });

  it('marks a group stale when a change cannot be applied, until the network described it', async () => {
    expect(await writer.changeGroup(fence, channel, ID, (before) => before)).toEqual({ seqs: [], stale: true });
    await writer.recordGroups(fence, channel, [group()]);
    expect((await writer.changeGroup(fence, channel, ID, () => undefined)).stale).toBe(true);
    expect(await writer.stale(channel)).toEqual([ID]);
    await writer.recordGroups(fence, channel, [group()]);
    expect(await writer.stale(channel)).toEqual([]);
    expect((await notified()).map(({ method }) => method)).toEqual(['post']);
  });

  it('knows after a list of all groups which ones were left, for the device that queried', async () => {
    const other = '120363000000000002@g.us';
    await writer.recordGroups(fence, channel, [group(), group({ id: other })], { quiet: true });
    const versions = await writer.versions(channel);
    await writer.finishSync(fence, channel, { device: '15550009999:7', named: [other], versions });
    expect(await reader.group(channel, ID)).toBeUndefined();
    expect((await writer.find(channel, ID))?.member).toBe(false);
    expect(await writer.syncedAtMs(channel, '15550009999:7')).toBeGreaterThan(Date.now() - 60_000);
    expect(await writer.syncedAtMs(channel, '15550009999:8')).toBeUndefined();
  });

  it('keeps the invite code when the network describes the group without it', async () => {
    await writer.recordGroups(fence, channel, [group({ facts: { ...group().facts, inviteCode: 'AbCdEfGhIjKlMnOp' } })]);
    await writer.recordGroups(fence, channel, [group({ name: 'Again' })]);
    expect(await reader.group(channel, ID)).toMatchObject({ name: 'Again', invite_code: 'AbCdEfGhIjKlMnOp' });
  });

  it('shows a member by number once a contact has the number of the LID', async () => {
    await writer.recordGroups(fence, channel, [group({ members: [SHOP, BO] })]);
    const idOfBo = async () => (await reader.group(channel, ID))?.participants[1]?.id;
    expect(await idOfBo()).toBe('900000000002@lid');
    await new MessageWriter({ database }).recordHistory(fence, channel, {
      contacts: [{ id: '15550002222', lid: '900000000002' }],
    });
    expect(await idOfBo()).toBe('15550002222');
  });

  it('refuses a write from an older epoch', async () => {
    const old = { shard, epoch: 4n };
    await expect(writer.recordGroups(old, channel, [group()])).rejects.toBeInstanceOf(FencedError);
    await expect(writer.changeGroup(old, channel, ID, (before) => before)).rejects.toBeInstanceOf(FencedError);
  });

  it('lists 400 groups by pages of 100 with all their members, in four statements a page', async () => {
    const members = Array.from({ length: 60 }, (_, n): MemberRecord => {
      const lid = String(900_000_000_000 + n);
      return { jid: `${lid}@lid`, lid, ...(n % 2 === 0 && { phone: String(15_550_000_000 + n) }), rank: 'member' };
    });
    const ids = Array.from({ length: 400 }, (_, n) => `1203630000000${String(n).padStart(5, '0')}@g.us`);
    for (let at = 0; at < ids.length; at += 50) {
      const some = ids.slice(at, at + 50).map((id) => group({ id, members }));
      await writer.recordGroups(fence, channel, some, { quiet: true });
    }
    const query = jest.spyOn(database.pool, 'query');
    for (let offset = 0; offset < ids.length; offset += 100) {
      query.mockClear();
      const page = await reader.listGroups(channel, { count: 100, offset });
      expect([page.total, page.groups.length]).toEqual([400, 100]);
      expect(new Set(page.groups.map(({ participants }) => participants.length))).toEqual(new Set([60]));
      expect(query).toHaveBeenCalledTimes(4);
    }
    query.mockRestore();
  }, 30_000);
});
