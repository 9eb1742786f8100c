/**
 * Deletes what is left of people who are no users: sign-ups whose address was not confirmed within a week, sessions that have ended,
 * and what waited to be proved and no longer does (links of mails, second steps of sign-ins).
 *
 * Guarantees: nothing of this counted any more, except a sign-up, whose address can sign up anew. A confirmation at the same moment
 * wins or finds nobody: a user who confirmed is never deleted, nor one who is a member of an account.
 */
import { defineStatement, type GlobalDatabase } from '@dormouse/database';

export const UNCONFIRMED_KEPT_DAYS = 7;
const BATCH = 1_000;

const DELETE_UNCONFIRMED = defineStatement({
  name: 'delete-unconfirmed-users',
  scope: 'global',
  text: `DELETE FROM users WHERE NOT email_verified AND id IN (
           SELECT u.id FROM users u
           WHERE NOT u.email_verified AND u.created_at < now() - make_interval(days => $1)
             AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id) LIMIT $2::int4)`,
  parameters: ['int4', 'int4'],
});

const DELETE_ENDED_SESSIONS = defineStatement({
  name: 'delete-ended-user-sessions',
  scope: 'global',
  text: `DELETE FROM user_sessions WHERE expires_at <= now() AND id IN (
           SELECT id FROM user_sessions WHERE expires_at <= now() LIMIT $1::int4)`,
  parameters: ['int4'],
});

const DELETE_ENDED_VERIFICATIONS = defineStatement({
  name: 'delete-ended-user-verifications',
  scope: 'global',
  text: `DELETE FROM user_verifications WHERE id IN (SELECT id FROM user_verifications WHERE expires_at <= now() LIMIT $1::int4)`,
  parameters: ['int4'],
});

export class StaleUsers {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** @throws the driver's errors */
  async run(): Promise<void> {
    const { pool } = this.database;
    await untilFewer(() => DELETE_UNCONFIRMED.count(pool, UNCONFIRMED_KEPT_DAYS, BATCH));
    await untilFewer(() => DELETE_ENDED_SESSIONS.count(pool, BATCH));
    await untilFewer(() => DELETE_ENDED_VERIFICATIONS.count(pool, BATCH));
  }
}

async function untilFewer(deleteBatch: () => Promise<number>): Promise<void> {
  while ((await deleteBatch()) === BATCH);
}
