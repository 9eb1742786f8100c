import type { ListMessagesQuery } from '@dormouse/gateway-contract';
import { contactIdSql, messageColumns } from './message-rows.js';

/** A statement ready for the pool: its name lists the filters it has, so each combination is prepared once. */
export interface PreparedQuery {
  name: string;
  text: string;
  values: unknown[];
}

/** The page and the count of a message list. */
export function messageListQueries(
  channelId: string,
  query: ListMessagesQuery,
  chatId?: string,
): { page: PreparedQuery; total: PreparedQuery } {
  const { where, values, name, counted } = conditions(channelId, query, chatId);
  const order = query.sort === 'asc' ? 'ASC' : 'DESC';
  const page = `SELECT m.* FROM messages m WHERE ${where}
    ORDER BY m.timestamp ${order}, m.id ${order} LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
  return {
    page: {
      name: `list-messages-${query.sort}-${name}`,
      text: `${selectNamed(page)} ORDER BY m.timestamp ${order}, m.id ${order}`,
      values: [...values, query.count, query.offset],
    },
    total: counted
      ? keptTotal(channelId, query, chatId)
      : { name: `count-messages-${name}`, text: `SELECT count(*) AS total FROM messages m WHERE ${where}`, values },
  };
}

function conditions(channelId: string, query: ListMessagesQuery, chatId: string | undefined) {
  const where = ['m.channel_id = $1'];
  const values: unknown[] = [channelId];
  const names: string[] = [];
  const filter = (name: string, condition: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    where.push(`${condition} $${values.length}`);
    names.push(name);
  };
  filter('chat', 'm.chat_id =', chatId);
  filter('from', 'm.timestamp >=', query.time_from === undefined ? undefined : Math.ceil(query.time_from));
  filter('to', 'm.timestamp <=', query.time_to === undefined ? undefined : Math.floor(query.time_to));
  filter('author', 'm.author =', query.author);
  filter('mine', 'm.from_me =', query.from_me);
  if (query.normal_types) {
    where.push(`m.type <> 'system'`);
    names.push('normal');
  }
  const counted = names.every((name) => name === 'chat' || name === 'normal');
  return { where: where.join(' AND '), values, name: names.join('-'), counted };
}

/** The count of a list without filters is kept; counting a million rows would take longer than everything else. */
function keptTotal(channelId: string, { normal_types: normal }: ListMessagesQuery, chatId = ''): PreparedQuery {
  return {
    name: `kept-total-${normal ? 'normal' : 'all'}`,
    text: `SELECT ${normal ? 'rows - system_rows' : 'rows'} AS total FROM row_counts
           WHERE channel_id = $1 AND kind = 'messages' AND chat_id = $2`,
    values: [channelId, chatId],
  };
}

/**
 * Messages of `source` (a SELECT of whole rows) with the names of their chats and authors. Names are looked up by key for each
 * row, not joined: planning joins of five tables takes longer than reading a page, and a name is looked up only where
 * those before it are missing.
 */
export function selectNamed(source: string): string {
  return `SELECT ${messageColumns('m')},
      coalesce(
        (SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = m.channel_id AND g.id = m.chat_id),
        (SELECT c.name FROM chats c WHERE c.channel_id = m.channel_id AND c.id = m.chat_id),
        ${contactName(contactIdSql('m.chat_id'))}) AS chat_name,
      ${contactName('m.author')} AS contact_name
    FROM (${source}) m`;
}

function contactName(id: string): string {
  return `(SELECT coalesce(k.name, k.push_name) FROM contacts k WHERE k.channel_id = m.channel_id AND k.id = ${id})`;
}
