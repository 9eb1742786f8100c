import type { RegionalDatabase } from '@dormouse/database';
import type { Group, GroupsList, PageQuery } from '@dormouse/gateway-contract';
import { chatsQuery, toChat, type ChatRow } from './chat-rows.js';
import { shownGroup, type GroupFacts, type LaterNumbers, type MemberRecord } from './group-record.js';

interface GroupRow {
  id: string;
  facts: GroupFacts;
  members: MemberRecord[];
}

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
      this.pool.query<GroupRow>({
        name: 'list-groups',
        text: `SELECT g.id, g.facts, g.members FROM groups g
          LEFT JOIN chats c ON c.channel_id = g.channel_id AND c.id = g.id
          WHERE g.channel_id = $1 AND g.member ORDER BY coalesce(c.timestamp, 0) DESC, g.id LIMIT $2 OFFSET $3`,
        values: [channelId, query.count, query.offset],
      }),
      this.pool.query<{ total: string }>({
        name: 'count-groups',
        text: 'SELECT count(*) AS total FROM groups WHERE channel_id = $1 AND member',
        values: [channelId],
      }),
    ]);
    const groups = await this.shown(channelId, page.rows);
    return { groups, count: query.count, total: Number(counted.rows[0]?.total ?? 0), offset: query.offset };
  }

  /** One group by its chat id; undefined when the channel is not in it. */
  async group(channelId: string, groupId: string): Promise<Group | undefined> {
    const { rows } = await this.pool.query<GroupRow>({
      name: 'group-by-id',
      text: 'SELECT id, facts, members FROM groups WHERE channel_id = $1 AND id = $2 AND member',
      values: [channelId, groupId],
    });
    return (await this.shown(channelId, rows))[0];
  }

  private async shown(channelId: string, rows: readonly GroupRow[]): Promise<Group[]> {
    if (rows.length === 0) return [];
    const [chats, later] = await Promise.all([
      this.pool.query<ChatRow>({
        name: 'chats-of-groups',
        text: chatsQuery('SELECT * FROM chats WHERE channel_id = $1 AND id = ANY ($2)'),
        values: [channelId, rows.map(({ id }) => id)],
      }),
      this.laterNumbers(channelId, rows),
    ]);
    const nowMs = this.now();
    const shown = new Map(chats.rows.map((row) => [row.id, toChat(row, nowMs)]));
    return rows.map((row) => {
      const group = shownGroup(row, later);
      const chat = shown.get(row.id);
      return { ...chat, ...group, timestamp: chat?.timestamp ?? group.timestamp };
    });
  }

  /** Members whose numbers the group did not tell, but a contact has meanwhile. */
  private async laterNumbers(channelId: string, rows: readonly GroupRow[]): Promise<LaterNumbers> {
    const lids = rows.flatMap(({ members }) =>
      members.flatMap(({ phone, lid }) => (phone === undefined && lid !== undefined ? [lid] : [])),
    );
    if (lids.length === 0) return new Map();
    const contacts = await this.pool.query<{ id: string; lid: string }>({
      name: 'numbers-of-lids',
      text: `SELECT id, lid FROM contacts WHERE channel_id = $1 AND lid = ANY ($2) AND id NOT LIKE '%@lid'`,
      values: [channelId, [...new Set(lids)]],
    });
    return new Map(contacts.rows.map(({ id, lid }) => [lid, id]));
  }
}
