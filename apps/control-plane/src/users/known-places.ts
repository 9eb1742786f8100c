/**
 * Notifies users by mail of sign-ins from networks that they did not sign in from before.
 *
 * Guarantee: the network is remembered in the transaction that stores the mail, so each new network causes one mail, also when
 * several processes see it at once. The first sign-in of a user causes none. Networks are forgotten after half a year. The audit
 * log has every sign-in.
 */
import { defineStatement, transaction, type GlobalDatabase } from '@dormouse/database';
import { appendAudit } from '@dormouse/audit-log';
import { enqueueMail } from '@dormouse/mail-outbox';
import { addressBlock } from '@dormouse/public-addresses';
import type { SignedIn } from './sign-in-observer.js';

const KEPT_DAYS = 180;

const FORGET_PLACES = defineStatement({
  name: 'forget-user-places',
  scope: 'global',
  text: `DELETE FROM user_places WHERE user_id = $1 AND last_seen_at < now() - make_interval(days => $2)`,
  parameters: ['text', 'int4'],
});

const SEE_PLACE = defineStatement({
  name: 'see-user-place',
  scope: 'global',
  text: `INSERT INTO user_places (user_id, network) VALUES ($1, $2)
         ON CONFLICT (user_id, network) DO UPDATE SET last_seen_at = now()
         RETURNING (xmax = 0) AS is_new, EXISTS (SELECT 1 FROM user_places p WHERE p.user_id = $1) AS has_others`,
  parameters: ['text', 'text'],
  row: { is_new: 'bool', has_others: 'bool' },
});

export class KnownPlaces {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly hasMail: boolean,
  ) {}

  /** Remembers where a user signed in, and stores a mail if that is new. */
  async see({ userId, sessionId, address, browser }: SignedIn): Promise<void> {
    await transaction(this.database, async (connection) => {
      const actor = { kind: 'user', id: userId } as const;
      await appendAudit(connection, { accountId: null, actor, action: 'user.sign-in', address });
      await FORGET_PLACES.count(connection, userId, KEPT_DAYS);
      const seen = await SEE_PLACE.first(connection, userId, networkOf(address));
      if (!this.hasMail || !seen?.is_new || !seen.has_others) return;
      await enqueueMail(connection, {
        kind: 'new-sign-in',
        to: { userId },
        reason: `new-sign-in:${sessionId}`,
        data: { at: new Date().toISOString(), address, browser: browser.slice(0, 200) },
      });
    });
  }
}

/** Of IPv4 the /24, of IPv6 the /64: addresses of one line change within it. */
function networkOf(address: string): string {
  const block = addressBlock(address);
  return /^\d+\.\d+\.\d+\.\d+$/.test(block) ? `${block.split('.').slice(0, 3).join('.')}.0/24` : block;
}
