/**
 * Changes the address of a user when the link in the mail to the new one was used. The engine makes and signs the link.
 *
 * Guarantee: the address, the entry in the audit log and a mail to the old address are stored in one transaction: nobody loses the
 * address of their user without a mail to the address they had. A link works once, for the user and the address it was made for.
 */
import { randomUUID } from 'node:crypto';
import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { enqueueMail } from '@dormouse/mail-outbox';
import { verifyJWT } from 'better-auth/crypto';
import { z } from 'zod';
import type { Visitor } from './sign-in-engine.js';

const UNIQUE_VIOLATION = '23505';

/** What the engine signs for a change; its other links have no `updateTo`. */
const changeClaims = z.object({
  requestType: z.literal('change-email-verification'),
  userId: z.string(),
  email: z.string(),
  updateTo: z.string(),
});

const CHANGE_ADDRESS = defineStatement({
  name: 'change-user-address',
  scope: 'global',
  text: `UPDATE users SET email = $3, updated_at = now() WHERE id = $1 AND email = $2 RETURNING name`,
  parameters: ['text', 'text', 'text'],
  row: { name: 'text' },
});

export class AddressChange {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly secret: string,
  ) {}

  /**
   * Carries out the change that a token is for.
   * @returns whether it is a token for a change
   * @throws {GatewayError} 400 when it was used, or a user has the new address
   */
  async use(token: string, { address, requestId }: Visitor): Promise<boolean> {
    const claims = changeClaims.safeParse(await verifyJWT(token, this.secret));
    if (!claims.success) return false;
    const { userId, email, updateTo } = claims.data;
    try {
      await transaction(this.database, async (connection) => {
        const changed = await CHANGE_ADDRESS.first(connection, userId, email, updateTo);
        if (!changed) throw notValid();
        const actor = { kind: 'user', id: userId } as const;
        const origin = { address, ...(requestId === undefined ? {} : { requestId }) };
        await appendAudit(connection, { accountId: null, actor, action: 'user.change-address', ...origin });
        await enqueueMail(connection, {
          kind: 'address-changed',
          to: { address: email, name: changed.name },
          reason: `address-changed:${randomUUID()}`,
          data: { at: new Date().toISOString() },
        });
      });
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== UNIQUE_VIOLATION) throw error;
      throw notValid(error);
    }
    return true;
  }
}

function notValid(cause?: unknown): GatewayError {
  return new GatewayError(400, { details: 'token: not valid any more; request another mail' }, { cause });
}
