/**
 * Invitations into an account.
 *
 * Guarantees: an invitation works once, for {@link VALID_FOR_DAYS} days, and only for the address that it was sent to; of two
 * requests that accept it at once one succeeds. Its token is stored as a hash: the mail (or, where no mail is sent, the answer
 * to the inviter) has it alone. An account has one open invitation for an address. One that was used, withdrawn, replaced or
 * is past its end, and one for another address, are 404 alike. The mail and the audit log are written in the same transaction.
 */
import { createHash, randomBytes } from 'node:crypto';
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable, type RowOf } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { enqueueMail } from '@dormouse/mail-outbox';
import type { InvitationRecord, InviteBody, Invited, JoinBody } from '@dormouse/management-contract';
import {
  accountNotFound,
  addMember,
  lockAccount,
  newId,
  toRole,
  type Account,
  type Membership,
} from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import type { Cause } from '../accounts/cause.js';
import { addUser } from '../users/new-user.js';
import type { SessionUser } from '../users/user-sessions.js';

export const VALID_FOR_DAYS = 7;

const INVITATION_ROW = {
  id: 'text',
  account_id: 'text',
  address: 'text',
  role: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
} as const;
const COLUMNS = 'id, account_id, address, role, created_at, expires_at';
const IS_OPEN = 'accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now()';

const LIST = defineStatement({
  name: 'list-invitations',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM invitations WHERE account_id = $1 AND ${IS_OPEN} ORDER BY created_at DESC, id`,
  parameters: ['text'],
  row: INVITATION_ROW,
});

const ADD = defineStatement({
  name: 'add-invitation',
  scope: 'global',
  text: `INSERT INTO invitations (id, account_id, address, role, token_hash, invited_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, now() + $7::float8 * interval '1 day') RETURNING ${COLUMNS}`,
  parameters: ['text', 'text', 'text', 'text', 'bytea', 'text?', 'float8'],
  row: INVITATION_ROW,
});

const REPLACE = defineStatement({
  name: 'replace-invitations',
  scope: 'global',
  text: `UPDATE invitations SET withdrawn_at = now() WHERE account_id = $1 AND address = $2 AND ${IS_OPEN}`,
  parameters: ['text', 'text'],
});

const WITHDRAW = defineStatement({
  name: 'withdraw-invitation',
  scope: 'global',
  text: `UPDATE invitations SET withdrawn_at = now() WHERE account_id = $1 AND id = $2 AND ${IS_OPEN}`,
  parameters: ['text', 'text'],
});

const ACCEPT = defineStatement({
  name: 'accept-invitation',
  scope: 'global',
  text: `UPDATE invitations SET accepted_at = now() WHERE token_hash = $1 AND ($2::text IS NULL OR address = $2)
           AND ${IS_OPEN} RETURNING ${COLUMNS}`,
  parameters: ['bytea', 'text?'],
  row: INVITATION_ROW,
});

const IS_MEMBER = defineStatement({
  name: 'is-member-by-address',
  scope: 'global',
  text: `SELECT u.id FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND u.email = $2`,
  parameters: ['text', 'text'],
  row: { id: 'text' },
});

/** How invitations reach people. */
export interface InvitationSettings {
  /** Origin of this installation. */
  publicUrl: string;
  /** Whether mail is sent; else the inviter gets the link. */
  hasMail: boolean;
}

export class Invitations {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    /** Undefined: nobody can sign in, so nobody can be invited. */
    private readonly settings: InvitationSettings | undefined,
  ) {}

  /** The open invitations of an account, the newest first. */
  async list(accountId: string): Promise<InvitationRecord[]> {
    return (await LIST.all(this.database.pool, accountId)).map(shown);
  }

  /** @throws {GatewayError} 403 where nobody can sign in, 409 for the address of a member */
  async invite(caller: Caller, { email, role }: InviteBody, cause: Cause): Promise<Invited> {
    const { settings } = this;
    if (!settings)
      throw new GatewayError(403, { details: 'nobody can sign in here: the installation has no AUTH_SECRET' });
    const token = randomBytes(32).toString('base64url');
    const link = `${settings.publicUrl}/invitation#token=${token}`;
    const row = await transaction(this.database, async (connection) => {
      const account = await lockAccount(connection, caller.account.id);
      if (!account) throw accountNotFound();
      if (await IS_MEMBER.first(connection, account.id, email)) {
        throw new GatewayError(409, { details: 'email: belongs to a member already' });
      }
      await REPLACE.count(connection, account.id, email);
      const invitedBy = caller.kind === 'user' ? caller.signedIn.user.id : null;
      const id = newId('inv_');
      const added = await ADD.first(connection, id, account.id, email, role, hashOf(token), invitedBy, VALID_FOR_DAYS);
      if (!added) throw new Error('the invitation was not written');
      if (settings.hasMail) await sendInvitation(connection, { account, caller, email, role, id, link });
      await append(connection, account.id, id, { ...cause, action: 'invitation.create', details: { email, role } });
      return added;
    });
    return { invitation: shown(row), ...(settings.hasMail ? {} : { link }) };
  }

  /** @throws {GatewayError} 404 when the account has no such open invitation */
  async withdraw(accountId: string, id: string, cause: Cause): Promise<void> {
    await transaction(this.database, async (connection) => {
      if ((await WITHDRAW.count(connection, accountId, id)) === 0) throw invitationNotFound();
      await append(connection, accountId, id, { ...cause, action: 'invitation.withdraw' });
    });
  }

  /** @throws {GatewayError} 404 for a token that does not work for the user's address, 409 for a member */
  async accept(token: string, user: SessionUser, cause: Cause): Promise<Membership> {
    return transaction(this.database, async (connection) => {
      const invitation = await ACCEPT.first(connection, hashOf(token), user.email.toLowerCase());
      if (!invitation) throw invitationNotFound();
      return join(connection, invitation, user.id, cause);
    });
  }

  /**
   * Accepts an invitation as somebody without a user: the user of its address is created.
   * @throws {GatewayError} 404 for a token that does not work, 409 when a user has the address
   */
  async acceptAsNewUser(
    { token, name }: Pick<JoinBody, 'token' | 'name'>,
    passwordHash: string,
    origin: Omit<Cause, 'actor'>,
  ): Promise<Membership> {
    return transaction(this.database, async (connection) => {
      const invitation = await ACCEPT.first(connection, hashOf(token), null);
      if (!invitation) throw invitationNotFound();
      const { address: email } = invitation;
      const userId = await addUser(connection, { name, email, passwordHash });
      if (userId === undefined) {
        const details = 'a user has this address already: sign in and accept the invitation (POST /invitations/accept)';
        throw new GatewayError(409, { details });
      }
      return join(connection, invitation, userId, { ...origin, actor: { kind: 'user', id: userId, name: email } });
    });
  }
}

type InvitationRow = RowOf<typeof LIST>;

async function join(
  connection: Queryable,
  invitation: InvitationRow,
  userId: string,
  cause: Cause,
): Promise<Membership> {
  const account = await lockAccount(connection, invitation.account_id);
  if (!account) throw invitationNotFound();
  const role = toRole(invitation.role);
  if (!(await addMember(connection, account.id, userId, role))) {
    throw new GatewayError(409, { details: 'the user is a member of this account already' });
  }
  await append(connection, account.id, invitation.id, { ...cause, action: 'invitation.accept', details: { role } });
  return { account, role };
}

async function sendInvitation(
  connection: Queryable,
  invitation: { account: Account; caller: Caller; email: string; role: string; id: string; link: string },
): Promise<void> {
  const { account, caller, email, role, id, link } = invitation;
  const invitedBy = caller.kind === 'user' ? caller.signedIn.user.name : account.name;
  await enqueueMail(connection, {
    kind: 'invitation',
    to: { address: email },
    reason: `invitation:${id}`,
    data: { link, accountName: account.name, invitedBy, role, validForDays: VALID_FOR_DAYS },
  });
}

async function append(
  connection: Queryable,
  accountId: string,
  id: string,
  entry: Cause & { action: string; details?: Record<string, string> },
): Promise<void> {
  await appendAudit(connection, { ...entry, accountId, object: { kind: 'invitation', id } });
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function invitationNotFound(): GatewayError {
  return new GatewayError(404, { message: 'invitation not found' });
}

function shown(row: InvitationRow): InvitationRecord {
  return {
    id: row.id,
    email: row.address,
    role: toRole(row.role),
    created_at: Math.floor(row.created_at.getTime() / 1_000),
    expires_at: Math.floor(row.expires_at.getTime() / 1_000),
  };
}
