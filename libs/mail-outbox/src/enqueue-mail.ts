/**
 * Stores mail that is to be sent.
 *
 * Guarantees: given the connection of a transaction, the mail is sent if and only if that commits. For one reason there is one row,
 * however many store it and how often, so no mail is sent twice for it. Neither SMTP nor Redis takes part: with both away, mail waits.
 */
import { defineStatement, storable, storableJson, type Queryable } from '@dormouse/database';
import type { Mail, MailRecipient } from './mail.js';

const ENQUEUE = defineStatement({
  name: 'enqueue-mail',
  scope: 'global',
  text: `INSERT INTO mail_outbox (reason, kind, data, to_address, to_name, to_user_id, to_account_id, to_audience)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (reason) DO NOTHING`,
  parameters: ['text', 'text', 'jsonb', 'text?', 'text?', 'text?', 'text?', 'text?'],
});

/**
 * Stores a mail, unless one is stored for its reason.
 * @param queryable the connection of the transaction that causes the mail, or a pool
 * @returns whether it is new
 * @throws the driver's errors
 */
export async function enqueueMail(queryable: Queryable, mail: Mail): Promise<boolean> {
  const { reason, kind, data, to } = storable(mail);
  return (await ENQUEUE.count(queryable, reason, kind, storableJson(data), ...recipientColumns(to))) === 1;
}

/** Address, name, user, account, audience. */
function recipientColumns(
  to: MailRecipient,
): [string | null, string | null, string | null, string | null, string | null] {
  if ('address' in to) return [to.address, to.name ?? null, null, null, null];
  if ('userId' in to) return [null, null, to.userId, null, null];
  return [null, null, null, 'accountId' in to ? to.accountId : null, to.audience];
}
