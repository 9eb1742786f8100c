/**
 * Who did what on which object.
 *
 * Guarantees: an entry is written through the connection of the transaction that it describes, so both are stored or
 * neither; nothing in this project changes an entry but {@link anonymizeAudit}, which removes names and addresses, and
 * {@link deleteAuditOlderThan}. Callers put no secret into an entry. With PostgreSQL away the write fails, and with it the
 * transaction: nothing is done that the log does not have.
 */
import { defineStatement, storable, storableJson, type Queryable, type RowOf } from '@dormouse/database';

export type ActorKind = 'user' | 'key' | 'operator' | 'stripe' | 'system';

/** Who acts. */
export interface AuditActor {
  kind: ActorKind;
  /** Id of the user or the key, name of the operator. */
  id: string;
  name?: string;
}

/** Plain facts about an action. No secrets, and no addresses of people: those belong into `actor.name`. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** One action. */
export interface AuditEntry {
  /** Null: the action belongs to no account, such as a sign-in. */
  accountId: string | null;
  actor: AuditActor;
  /** `<object>.<verb>`: `channel.create`. */
  action: string;
  object?: { kind: string; id: string };
  /** Network address that the request came from. */
  address?: string;
  requestId?: string;
  details?: AuditDetails;
}

/** An entry as it is stored. */
export interface StoredAuditEntry extends AuditEntry {
  /** Grows from entry to entry. */
  id: string;
  at: Date;
}

/** Which entries of an account to list; absent: all. */
export interface AuditFilter {
  /** A whole action (`channel.create`), or what it begins with up to a dot (`channel`). */
  action?: string;
  actorId?: string;
  objectId?: string;
  from?: Date;
  to?: Date;
}

const COLUMNS = `id, at, account_id, actor_kind, actor_id, actor_name, action, object_kind, object_id, address,
  request_id, details`;

const APPEND = defineStatement({
  name: 'append-audit-entry',
  scope: 'global',
  text: `INSERT INTO audit_log (account_id, actor_kind, actor_id, actor_name, action, object_kind, object_id, address,
           request_id, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  parameters: ['text?', 'text', 'text', 'text?', 'text', 'text?', 'text?', 'text?', 'text?', 'jsonb?'],
});

const LIST = defineStatement({
  name: 'list-audit-entries',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM audit_log
         WHERE account_id = $1 AND ($2::int8 IS NULL OR id < $2)
           AND ($3::text IS NULL OR action = $3 OR action LIKE replace(replace($3, '%', '\\%'), '_', '\\_') || '.%')
           AND ($4::text IS NULL OR actor_id = $4) AND ($5::text IS NULL OR object_id = $5)
           AND ($6::timestamptz IS NULL OR at >= $6) AND ($7::timestamptz IS NULL OR at < $7)
         ORDER BY id DESC LIMIT $8`,
  parameters: ['text', 'int8?', 'text?', 'text?', 'text?', 'timestamptz?', 'timestamptz?', 'int8'],
  row: {
    id: 'int8',
    at: 'timestamptz',
    account_id: 'text?',
    actor_kind: 'text',
    actor_id: 'text',
    actor_name: 'text?',
    action: 'text',
    object_kind: 'text?',
    object_id: 'text?',
    address: 'text?',
    request_id: 'text?',
    details: 'jsonb?',
  },
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-audit-entries',
  scope: 'global',
  text: `DELETE FROM audit_log WHERE id IN (
           SELECT id FROM audit_log WHERE at < now() - $1::float8 * interval '1 day' ORDER BY at LIMIT $2)`,
  parameters: ['float8', 'int8'],
});

// Texts of details may name people; numbers and flags do not.
const ANONYMIZE = defineStatement({
  name: 'anonymize-audit-entries',
  scope: 'global',
  text: `UPDATE audit_log SET actor_name = NULL, address = NULL,
           details = (SELECT jsonb_object_agg(key, value) FROM jsonb_each(details) WHERE jsonb_typeof(value) <> 'string')
         WHERE account_id = $1 AND (actor_name IS NOT NULL OR address IS NOT NULL OR details IS NOT NULL)`,
  parameters: ['text'],
});

const ANONYMIZE_ACTOR = defineStatement({
  name: 'anonymize-audit-actor',
  scope: 'global',
  text: `UPDATE audit_log SET actor_name = NULL, address = NULL,
           details = (SELECT jsonb_object_agg(key, value) FROM jsonb_each(details) WHERE jsonb_typeof(value) <> 'string')
         WHERE actor_id = $1 AND actor_kind = 'user'
           AND (actor_name IS NOT NULL OR address IS NOT NULL OR details IS NOT NULL)`,
  parameters: ['text'],
});

/**
 * Stores an entry.
 * @param on the connection of the transaction that the entry describes
 */
export async function appendAudit(on: Queryable, entry: AuditEntry): Promise<void> {
  const { actor, object, details } = entry;
  await APPEND.count(
    on,
    entry.accountId,
    actor.kind,
    storable(actor.id),
    actor.name === undefined ? null : storable(actor.name),
    entry.action,
    object?.kind ?? null,
    object === undefined ? null : storable(object.id),
    entry.address ?? null,
    entry.requestId ?? null,
    details === undefined ? null : storableJson(details),
  );
}

/**
 * Entries of an account, newest first.
 * @param page `before`: the id of the last entry of the page before, absent for the first; at most `count` entries
 */
export async function listAudit(
  on: Queryable,
  accountId: string,
  page: { before?: string; count: number },
  filter: AuditFilter = {},
): Promise<StoredAuditEntry[]> {
  const { action, actorId, objectId, from, to } = filter;
  const rows = await LIST.all(
    on,
    accountId,
    page.before ?? null,
    action ?? null,
    actorId ?? null,
    objectId ?? null,
    from ?? null,
    to ?? null,
    page.count,
  );
  return rows.map(toEntry);
}

/** Deletes at most `limit` entries that are older than so many days. @returns how many */
export function deleteAuditOlderThan(on: Queryable, days: number, limit = 10_000): Promise<number> {
  return DELETE_OLD.count(on, days, limit);
}

/** Removes names, network addresses and texts from every entry of an account; ids, actions and times stay. Idempotent. */
export function anonymizeAudit(on: Queryable, accountId: string): Promise<number> {
  return ANONYMIZE.count(on, accountId);
}

/** The same for every entry of a user's own actions, in whatever account. */
export function anonymizeAuditOfUser(on: Queryable, userId: string): Promise<number> {
  return ANONYMIZE_ACTOR.count(on, userId);
}

function toEntry(row: RowOf<typeof LIST>): StoredAuditEntry {
  return {
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    actor: {
      kind: row.actor_kind as ActorKind,
      id: row.actor_id,
      ...(row.actor_name === null ? {} : { name: row.actor_name }),
    },
    action: row.action,
    ...(row.object_kind === null || row.object_id === null
      ? {}
      : { object: { kind: row.object_kind, id: row.object_id } }),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    ...(row.details === null ? {} : { details: row.details as AuditDetails }),
  };
}
