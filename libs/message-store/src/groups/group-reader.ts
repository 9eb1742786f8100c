import { defineStatement, narrowed, type RegionalDatabase, type RowOfColumns } from '@dormouse/database';
import type { Group, GroupsList, PageQuery } from '@dormouse/gateway-contract';
import { CHAT_WITH_LAST_ROW, chatsQuery, toChat } from '../chats/chat-rows.js';
import { shownGroup, type GroupFacts, type LaterNumbers, type MemberRecord } from './group-record.js';

const ROW = {
  id: 'text',
  facts: narrowed<GroupFacts>('jsonb'),
  members: narrowed<MemberRecord[]>('jsonb'),
} as const;
type GroupRow = RowOfColumns<typeof ROW>;

const LIST = defineStatement({
  name: 'list-groups',
  text: `SELECT g.id, g.facts, g.members FROM groups g
         LEFT JOIN chats c ON c.channel_id = g.channel_id AND c.id = g.id
         WHERE g.channel_id = $1 AND g.member ORDER BY coalesce(c.timestamp, 0) DESC, g.id LIMIT $2 OFFSET $3`,
  parameters: ['text', 'int8', 'int8'],
  row: ROW,
});

const COUNT = defineStatement({
  name: 'count-groups',
  text: 'SELECT count(*) AS total FROM groups WHERE channel_id = $1 AND member',
  parameters: ['text'],
  row: { total: 'int8' },
});

const ONE = defineStatement({
  name: 'group-by-id',
  text: 'SELECT id, facts, members FROM groups WHERE channel_id = $1 AND id = $2 AND member',
  parameters: ['text', 'text'],
  row: ROW,
});

const CHATS = defineStatement({
  name: 'chats-of-groups',
  text: chatsQuery('SELECT * FROM chats WHERE channel_id = $1 AND id = ANY ($2)'),
  parameters: ['text', 'text[]'],
  row: CHAT_WITH_LAST_ROW,
});

const NUMBERS = defineStatement({
  name: 'numbers-of-lids',
  text: `SELECT id, lid FROM contacts WHERE channel_id = $1 AND lid = ANY ($2) AND id NOT LIKE '%@lid'`,
  parameters: ['text', 'text[]'],
  row: { id: 'text', lid: 'text?' },
});

/**
 * The groups a channel is in, as customers see them. Needs no session and no Redis; with PostgreSQL away every method
 * fails with the driver's error.
 */
export class GroupReader {
  private readonly pool: RegionalDatabase['pool'];
  private readonly now: () => number;

  constructor({ database, now = Date.now }: { database: Pick<RegionalDatabase, 'pool'>; now?: () => number }) {
    this.pool = database.pool;
    this.now = now;
  }

  /** Groups, the last active first. */
  async listGroups(channelId: string, query: PageQuery): Promise<GroupsList> {
    const [page, counted] = await Promise.all([
      LIST.all(this.pool, channelId, query.count, query.offset),
      COUNT.first(this.pool, channelId),
    ]);
    const groups = await this.shown(channelId, page);
    return { groups, count: query.count, total: Number(counted?.total ?? 0), offset: query.offset };
  }

  /** One group by its chat id; undefined when the channel is not in it. */
  async group(channelId: string, groupId: string): Promise<Group | undefined> {
    return (await this.shown(channelId, await ONE.all(this.pool, channelId, groupId)))[0];
  }

  private async shown(channelId: string, rows: readonly GroupRow[]): Promise<Group[]> {
    if (rows.length === 0) return [];
    const [chats, later] = await Promise.all([
      CHATS.all(
        this.pool,
        channelId,
        rows.map(({ id }) => id),
      ),
      this.laterNumbers(channelId, rows),
    ]);
    const nowMs = this.now();
    const shown = new Map(chats.map((row) => [row.id, toChat(row, nowMs)]));
    return rows.map((row) => {
      const group = shownGroup(row, later);
      const chat = shown.get(row.id);
      return { ...chat, ...group, timestamp: chat?.timestamp ?? group.timestamp };
    });
  }

  /** Members whose numbers the group did not name, but a contact has meanwhile. */
  private async laterNumbers(channelId: string, rows: readonly GroupRow[]): Promise<LaterNumbers> {
    const lids = rows.flatMap(({ members }) =>
      members.flatMap(({ phone, lid }) => (phone === undefined && lid !== undefined ? [lid] : [])),
    );
    if (lids.length === 0) return new Map();
    const contacts = await NUMBERS.all(this.pool, channelId, [...new Set(lids)]);
    return new Map(contacts.flatMap(({ id, lid }) => (lid === null ? [] : [[lid, id]])));
  }
}
