/**
 * Mail on its way out: claimed by one control plane at a time, until it has ended.
 *
 * Guarantees: a claim is a row's `next_attempt_at` in the future and one more attempt, taken in one statement that skips what others
 * hold, so several processes share the work. What a process that died had claimed is due again when the claim ends. A mail ends once;
 * its data, address and name are erased then, and its reason stays, so that it cannot come again. All times are the database's.
 * With PostgreSQL away nothing is sent.
 */
import { defineStatement, narrowed, type Queryable, type RowOf } from '@dormouse/database';
import type { Mail, MailAudience, MailKind, MailRecipient } from './mail.js';

/**
 * How a mail ends: accepted by the SMTP server; refused by it for good; not accepted within the day; nobody to send it to (any more);
 * replaced by one mail for each user of its audience.
 */
export type MailOutcome = 'sent' | 'refused' | 'expired' | 'nobody' | 'divided';

/** A mail that this process may send now. */
export type ClaimedMail = Mail & {
  /** UUID, the same at every attempt. */
  readonly id: string;
  /** This one included. */
  readonly attempts: number;
  /** Time since it was stored. */
  readonly ageMs: number;
};

const CLAIM = defineStatement({
  name: 'claim-mail',
  scope: 'global',
  text: `UPDATE mail_outbox SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 millisecond'
         WHERE id IN (SELECT id FROM mail_outbox WHERE next_attempt_at < now() + interval '1 ms'
                      ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING id, reason, kind, data, to_address, to_name, to_user_id, to_account_id, to_audience, attempts,
                   extract(epoch FROM now() - created_at)::float8 * 1000 AS age_ms`,
  parameters: ['int8', 'float8'],
  row: {
    id: 'uuid',
    reason: 'text',
    kind: narrowed<MailKind>('text'),
    data: narrowed<Mail['data']>('jsonb'),
    to_address: 'text?',
    to_name: 'text?',
    to_user_id: 'text?',
    to_account_id: 'text?',
    to_audience: narrowed<MailAudience | 'operators' | null>('text?'),
    attempts: 'int4',
    age_ms: 'float8',
  },
});

const END = defineStatement({
  name: 'end-mail',
  scope: 'global',
  text: `UPDATE mail_outbox SET outcome = $2, last_error = $3, ended_at = now(), next_attempt_at = NULL,
                data = '{}', to_address = NULL, to_name = NULL
         WHERE id = $1 AND outcome IS NULL`,
  parameters: ['uuid', 'text', 'text?'],
});

const DELAY = defineStatement({
  name: 'delay-mail',
  scope: 'global',
  text: `UPDATE mail_outbox SET next_attempt_at = now() + $3 * interval '1 millisecond', last_error = $4
         WHERE id = $1 AND attempts = $2 AND outcome IS NULL`,
  parameters: ['uuid', 'int4', 'float8', 'text'],
});

const DIVIDE = defineStatement({
  name: 'divide-mail',
  scope: 'global',
  text: `WITH divided AS (
           UPDATE mail_outbox SET outcome = 'divided', ended_at = now(), next_attempt_at = NULL, data = '{}'
           FROM (SELECT id, data AS content FROM mail_outbox WHERE id = $1 FOR UPDATE) AS before
           WHERE mail_outbox.id = before.id AND outcome IS NULL
           RETURNING reason, kind, before.content, created_at)
         INSERT INTO mail_outbox (reason, kind, data, to_user_id, created_at)
         SELECT divided.reason || ':' || users.id, divided.kind, divided.content, users.id, divided.created_at
         FROM divided, unnest($2::text[]) AS users (id) ON CONFLICT (reason) DO NOTHING`,
  parameters: ['uuid', 'text[]'],
});

const FIGURES = defineStatement({
  name: 'figures-of-mail',
  scope: 'global',
  text: `SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_age_s
         FROM mail_outbox WHERE next_attempt_at IS NOT NULL`,
  parameters: [],
  row: { waiting: 'int4', oldest_age_s: 'float8' },
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-mail',
  scope: 'global',
  text: `DELETE FROM mail_outbox WHERE ended_at < now() - $1 * interval '1 millisecond'`,
  parameters: ['float8'],
});

/** Claims the mail that is due, for `claimMs` at most. */
export async function claimMail(queryable: Queryable, limit: number, claimMs: number): Promise<ClaimedMail[]> {
  return (await CLAIM.all(queryable, limit, claimMs)).map(toClaimedMail);
}

/** @param error why, without addresses */
export async function endMail(
  queryable: Queryable,
  { id }: Pick<ClaimedMail, 'id'>,
  outcome: Exclude<MailOutcome, 'divided'>,
  error?: string,
): Promise<void> {
  await END.count(queryable, id, outcome, error ?? null);
}

/** Has it tried again after `pauseMs`. Changes nothing when its claim has ended and another process holds it. */
export async function delayMail(
  queryable: Queryable,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  pauseMs: number,
  error: string,
): Promise<void> {
  await DELAY.count(queryable, id, attempts, pauseMs, error);
}

/** Replaces a mail to an audience by one for each of these users, due now and as old as it was. */
export async function divideMail(
  queryable: Queryable,
  { id }: Pick<ClaimedMail, 'id'>,
  userIds: readonly string[],
): Promise<void> {
  await DIVIDE.count(queryable, id, userIds);
}

/** How much mail waits, and how old the oldest is. */
export async function mailFigures(queryable: Queryable): Promise<RowOf<typeof FIGURES>> {
  return (await FIGURES.first(queryable)) ?? { waiting: 0, oldest_age_s: 0 };
}

/** Deletes what ended more than `olderThanMs` ago; its reasons can be used again. @returns how many rows */
export async function deleteMailOlderThan(queryable: Queryable, olderThanMs: number): Promise<number> {
  return DELETE_OLD.count(queryable, olderThanMs);
}

function toClaimedMail(row: RowOf<typeof CLAIM>): ClaimedMail {
  const { id, reason, attempts, age_ms: ageMs } = row;
  // What was stored was a mail: its kind and its data belong together.
  return { id, reason, attempts, ageMs, to: recipientOf(row), kind: row.kind, data: row.data } as ClaimedMail;
}

function recipientOf(row: RowOf<typeof CLAIM>): MailRecipient {
  const { to_audience: audience } = row;
  if (row.to_user_id !== null) return { userId: row.to_user_id };
  if (audience === 'operators') return { audience };
  if (row.to_account_id !== null) return { accountId: row.to_account_id, audience: audience ?? 'owners' };
  return { address: row.to_address ?? '', ...(row.to_name === null ? {} : { name: row.to_name }) };
}
