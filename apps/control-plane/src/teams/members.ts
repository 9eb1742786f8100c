/**
 * Who is in an account, and in which role.
 *
 * Guarantees: an account that had an owner has one: changes of members of one account wait for each other (the account's row is
 * locked), so of two last owners who leave at once one stays. A removed member is refused at the next request, and so are the keys
 * that they made; a member with a new role keeps only keys that do no more than that role. Each change is in the audit log in its
 * own transaction. Without the global database nothing changes.
 */
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable, type RowOf } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { SCOPES_OF_ROLE, type MemberRecord, type Role } from '@dormouse/management-contract';
import { accountNotFound, lockAccount, toRole } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { endKeysBeyond } from '../accounts/keys.js';

const LIST = defineStatement({
  name: 'list-members',
  scope: 'global',
  text: `SELECT u.id, u.name, u.email, u.two_factor_enabled, m.role, m.created_at
         FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.account_id = $1 AND ($2::text IS NULL OR m.user_id = $2) ORDER BY m.created_at, u.id`,
  parameters: ['text', 'text?'],
  row: {
    id: 'text',
    name: 'text',
    email: 'text',
    two_factor_enabled: 'bool',
    role: 'text',
    created_at: 'timestamptz',
  },
});

const OTHER_OWNERS = defineStatement({
  name: 'count-other-owners',
  scope: 'global',
  text: `SELECT count(*)::int4 AS owners FROM memberships WHERE account_id = $1 AND role = 'owner' AND user_id <> $2`,
  parameters: ['text', 'text'],
  row: { owners: 'int4' },
});

const SET_ROLE = defineStatement({
  name: 'set-role',
  scope: 'global',
  text: 'UPDATE memberships SET role = $3 WHERE account_id = $1 AND user_id = $2',
  parameters: ['text', 'text', 'text'],
});

const REMOVE = defineStatement({
  name: 'remove-member',
  scope: 'global',
  text: 'DELETE FROM memberships WHERE account_id = $1 AND user_id = $2',
  parameters: ['text', 'text'],
});

export class Members {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** The members of an account, in the order of joining. */
  async list(accountId: string): Promise<MemberRecord[]> {
    return (await LIST.all(this.database.pool, accountId, null)).map(shown);
  }

  /** @throws {GatewayError} 404 when there is no such member, 409 for the last owner */
  async changeRole(accountId: string, userId: string, role: Role, cause: Cause): Promise<MemberRecord> {
    return transaction(this.database, async (connection) => {
      const member = await lockMember(connection, accountId, userId);
      if (member.role === 'owner' && role !== 'owner') await requireOtherOwner(connection, accountId, userId);
      await SET_ROLE.count(connection, accountId, userId, role);
      const keysEnded = await endKeysBeyond(connection, accountId, userId, SCOPES_OF_ROLE[role]);
      const details = { role, before: member.role, keys_ended: keysEnded };
      await append(connection, accountId, userId, { ...cause, action: 'member.change-role', details });
      return { ...shown(member), role };
    });
  }

  /** @throws {GatewayError} 404 when there is no such member, 409 for the last owner */
  async remove(accountId: string, userId: string, cause: Cause): Promise<void> {
    await this.#remove(accountId, userId, { ...cause, action: 'member.remove' });
  }

  /** @throws {GatewayError} 409 for the last owner */
  async leave(accountId: string, userId: string, cause: Cause): Promise<void> {
    await this.#remove(accountId, userId, { ...cause, action: 'member.leave' });
  }

  async #remove(accountId: string, userId: string, entry: Cause & { action: string }): Promise<void> {
    await transaction(this.database, async (connection) => {
      const { role } = await lockMember(connection, accountId, userId);
      if (role === 'owner') await requireOtherOwner(connection, accountId, userId);
      await REMOVE.count(connection, accountId, userId);
      const keysEnded = await endKeysBeyond(connection, accountId, userId, []);
      await append(connection, accountId, userId, { ...entry, details: { role, keys_ended: keysEnded } });
    });
  }
}

type MemberRow = RowOf<typeof LIST>;

/** A member, with the account locked. @throws {GatewayError} 404 */
async function lockMember(connection: Queryable, accountId: string, userId: string): Promise<MemberRow> {
  if (!(await lockAccount(connection, accountId))) throw accountNotFound();
  const member = await LIST.first(connection, accountId, userId);
  if (!member) throw new GatewayError(404, { message: 'member not found' });
  return member;
}

async function requireOtherOwner(connection: Queryable, accountId: string, userId: string): Promise<void> {
  const counted = await OTHER_OWNERS.first(connection, accountId, userId);
  if ((counted?.owners ?? 0) > 0) return;
  const details = 'an account needs an owner: make somebody else an owner first, or end the account (DELETE /account)';
  throw new GatewayError(409, { message: 'the last owner', details });
}

async function append(
  connection: Queryable,
  accountId: string,
  userId: string,
  entry: Cause & { action: string; details: Record<string, string | number> },
): Promise<void> {
  await appendAudit(connection, { ...entry, accountId, object: { kind: 'member', id: userId } });
}

function shown(row: MemberRow): MemberRecord {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: toRole(row.role),
    second_factor: row.two_factor_enabled,
    joined_at: Math.floor(row.created_at.getTime() / 1_000),
  };
}
