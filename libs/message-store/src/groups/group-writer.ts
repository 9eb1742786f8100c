/**
 * What a channel knows of its groups, kept true.
 *
 * Every change is one fenced transaction on the channel (see `channel-transaction.ts`): the group as it was is read, the
 * group as it is is written, and what differs makes an event, all or nothing. A change that is received twice (an act of our own
 * and the network's notice of it) therefore makes one event. An answer of the network that was overtaken by a change is
 * refused, not stored over it. With PostgreSQL away nothing is written and callers try again.
 */
import {
  defineStatement,
  narrowed,
  storable,
  storableJson,
  type Fence,
  type Queryable,
  type RegionalDatabase,
} from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';
import { writeChats } from '../chats/chat-writes.js';
import {
  groupEvents,
  memberId,
  type GroupFacts,
  type GroupRecord,
  type MemberRecord,
  type StoredGroup,
} from './group-record.js';
import { storableId, storableNamed } from '../storable-records.js';

/** What a write of groups did. */
export interface GroupsWritten {
  /** Sequence numbers of the events it made. */
  seqs: number[];
  /** Ids of groups that changed since the network was queried: query again. */
  overtaken: string[];
}

export interface RecordGroupsOptions {
  /**
   * The version of each group when the network was queried (0 for one that was not known). Absent: the answer is newer
   * than everything that was received.
   */
  versions?: ReadonlyMap<string, number>;
  /** No events of groups that were not known: the first list after a link is no news. */
  quiet?: boolean;
}

const STORE_GROUPS = defineStatement({
  name: 'store-groups',
  text: `
INSERT INTO groups (channel_id, id, member, stale, version, facts, members)
SELECT $1, r.id, r.member, r.stale, r.version, r.facts, r.members
FROM jsonb_to_recordset($2::jsonb) AS r(id text, member boolean, stale boolean, version bigint, facts jsonb,
  members jsonb)
ON CONFLICT (channel_id, id) DO UPDATE SET member = excluded.member, stale = excluded.stale,
  version = excluded.version, facts = excluded.facts, members = excluded.members`,
  parameters: ['text', 'jsonb'],
});

const MARK_SYNCED = defineStatement({
  name: 'mark-groups-synced',
  text: `
INSERT INTO group_syncs (channel_id, device) VALUES ($1, $2)
ON CONFLICT (channel_id) DO UPDATE SET device = excluded.device, synced_at = now()`,
  parameters: ['text', 'text'],
});

const VERSIONS = defineStatement({
  name: 'group-versions',
  text: 'SELECT id, version FROM groups WHERE channel_id = $1',
  parameters: ['text'],
  row: { id: 'text', version: 'int8' },
});

const STALE = defineStatement({
  name: 'stale-groups',
  text: 'SELECT id FROM groups WHERE channel_id = $1 AND stale ORDER BY id',
  parameters: ['text'],
  row: { id: 'text' },
});

const NUMBERS = defineStatement({
  name: 'numbers-of-members',
  text: `SELECT m.lid, m.phone FROM groups g, jsonb_to_recordset(g.members) AS m(lid text, phone text)
         WHERE g.channel_id = $1 AND g.id = ANY ($2) AND m.lid = ANY ($3) AND m.phone IS NOT NULL`,
  parameters: ['text', 'text[]', 'text[]'],
  row: { lid: 'text', phone: 'text' },
});

const SYNC = defineStatement({
  name: 'group-sync',
  text: 'SELECT synced_at FROM group_syncs WHERE channel_id = $1 AND device = $2',
  parameters: ['text', 'text'],
  row: { synced_at: 'timestamptz' },
});

const GROUPS = defineStatement({
  name: 'groups-by-id',
  text: 'SELECT id, member, stale, version, facts, members FROM groups WHERE channel_id = $1 AND id = ANY ($2)',
  parameters: ['text', 'text[]'],
  row: {
    id: 'text',
    member: 'bool',
    stale: 'bool',
    version: 'int8',
    facts: narrowed<GroupFacts>('jsonb'),
    members: narrowed<MemberRecord[]>('jsonb'),
  },
});

export class GroupWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
  }

  /** A group, whether the channel is still in it or not; undefined when it was never known. */
  async find(channelId: string, groupId: string): Promise<StoredGroup | undefined> {
    return (await select(this.database.pool, channelId, [groupId]))[0];
  }

  /** Versions of all groups of the channel, for {@link RecordGroupsOptions}. */
  async versions(channelId: string): Promise<Map<string, number>> {
    const rows = await VERSIONS.all(this.database.pool, channelId);
    return new Map(rows.map(({ id, version }) => [id, Number(version)]));
  }

  /** Groups of which something could not be applied. */
  async stale(channelId: string): Promise<string[]> {
    const rows = await STALE.all(this.database.pool, channelId);
    return rows.map(({ id }) => id);
  }

  /**
   * The numbers behind LIDs, as far as these groups name them.
   * @param lids user parts
   */
  async numbersOfMembers(
    channelId: string,
    groupIds: readonly string[],
    lids: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = await NUMBERS.all(this.database.pool, channelId, groupIds, lids);
    return new Map(rows.map(({ lid, phone }) => [lid, phone]));
  }

  /** When all groups were queried last (epoch milliseconds), if it was by this linked device. */
  async syncedAtMs(channelId: string, device: string): Promise<number | undefined> {
    return (await SYNC.first(this.database.pool, channelId, device))?.synced_at.getTime();
  }

  /** Groups as the network described them. */
  async recordGroups(
    fence: Fence,
    channelId: string,
    groups: readonly GroupRecord[],
    { versions, quiet = false }: RecordGroupsOptions = {},
  ): Promise<GroupsWritten> {
    const clean = groups.map(storableNamed);
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const ids = clean.map(({ id }) => id);
      const stored = await select(transaction.connection, channelId, ids);
      const known = new Map(stored.map((group) => [group.id, group]));
      const overtaken: string[] = [];
      const events: ChannelEvent[] = [];
      const changed: StoredGroup[] = [];
      for (const group of clean) {
        const before = known.get(group.id);
        if (versions && before && before.version !== (versions.get(group.id) ?? 0)) {
          overtaken.push(group.id);
          continue;
        }
        const after = keepingWhatIsNotQueried(before, group);
        if (before && !before.stale && same(before, after)) continue;
        changed.push({ ...after, stale: false, version: (before?.version ?? 0) + 1 });
        if (before?.member || !quiet) events.push(...groupEvents(before, after));
      }
      await store(transaction, changed);
      return { seqs: await transaction.append(events), overtaken };
    });
  }

  /**
   * All groups of the channel were queried and recorded: those that were not named were left.
   * @param versions the versions of all groups when the network was queried
   */
  async finishSync(
    fence: Fence,
    channelId: string,
    sync: { device: string; named: readonly string[]; versions: ReadonlyMap<string, number> },
  ): Promise<void> {
    const { device, named, versions } = sync;
    const unnamed = [...versions.keys()].filter((id) => !named.includes(id));
    await channelTransaction(this.database, fence, channelId, async (transaction) => {
      const stored = await select(transaction.connection, channelId, unnamed);
      const left = stored.filter(({ id, member, version }) => member && version === versions.get(id));
      await store(
        transaction,
        left.map((group) => next(group, { member: false })),
      );
      await MARK_SYNCED.count(transaction.connection, channelId, device);
    });
  }

  /**
   * Changes one group.
   * @param apply the group after the change; undefined when the change cannot be applied: the group becomes stale
   * @returns `stale`: query the network, because the group is not known or the change could not be applied
   */
  async changeGroup(
    fence: Fence,
    channelId: string,
    groupId: string,
    apply: (before: GroupRecord) => GroupRecord | undefined,
  ): Promise<{ seqs: number[]; stale: boolean }> {
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const [before] = await select(transaction.connection, channelId, [storableId(groupId)]);
      if (!before) return { seqs: [], stale: true };
      const applied = apply(before);
      const after = applied && storable(applied);
      if (!after) {
        await store(transaction, [{ ...before, stale: true, version: before.version + 1 }]);
        return { seqs: [], stale: true };
      }
      if (same(before, after)) return { seqs: [], stale: before.stale };
      await store(transaction, [next(before, after)]);
      return { seqs: await transaction.append(groupEvents(before, after)), stale: before.stale };
    });
  }
}

function next(before: StoredGroup, change: Partial<GroupRecord>): StoredGroup {
  return { ...before, ...change, version: before.version + 1 };
}

/** The network repeats neither the invite code nor who requested to join when it describes a group. */
function keepingWhatIsNotQueried(before: GroupRecord | undefined, group: GroupRecord): GroupRecord {
  const inviteCode = group.facts.inviteCode ?? before?.facts.inviteCode;
  const members = new Set(group.members.map((member) => memberId(member)));
  const requests = before?.facts.requests?.filter(([id]) => !members.has(id)) ?? [];
  const kept = { ...(inviteCode !== undefined && { inviteCode }), ...(requests.length > 0 && { requests }) };
  return { ...group, facts: { ...group.facts, ...kept } };
}

function same(one: GroupRecord, other: GroupRecord): boolean {
  return canonical(one) === canonical(other);
}

/** Text that is the same for the same group: PostgreSQL orders the fields of an object its own way. */
function canonical({ member, facts, members }: GroupRecord): string {
  const sorted = (fields: object) =>
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([member, sorted(facts), members.map(sorted).sort()]);
}

async function select(on: Queryable, channelId: string, ids: readonly string[]): Promise<StoredGroup[]> {
  if (ids.length === 0) return [];
  const rows = await GROUPS.all(on, channelId, ids);
  return rows.map((row) => ({ ...row, version: Number(row.version) }));
}

async function store(transaction: ChannelTransaction, groups: readonly StoredGroup[]): Promise<void> {
  if (groups.length === 0) return;
  const { connection, channelId } = transaction;
  await STORE_GROUPS.count(connection, channelId, storableJson(groups));
  await writeChats(
    transaction,
    groups
      .filter(({ member }) => member)
      .map(({ id, facts }) => ({ id, ...(facts.name && { name: facts.name }), timestamp: facts.createdAt })),
  );
}
