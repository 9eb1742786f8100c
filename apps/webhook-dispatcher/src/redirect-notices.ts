import type { RegionalDatabase } from '@dormouse/database';
import type { EventPayloads } from '@dormouse/gateway-contract';
import type { Claim } from './cursors.js';

/** What a receiver answered in place of accepting an event. */
export interface Redirect {
  status: number;
  /** Absolute address, as text for people. */
  to: string;
}

/**
 * Notifies the customer, by an event of the channel, that a webhook answers with redirects: of the first one only. As all
 * that write events it locks the channel's sequence in the statement that writes, so that sequence order is commit order.
 */
export class RedirectNotices {
  readonly #pool: RegionalDatabase['pool'];

  /** @param announce is called with the channel of a notice that was written */
  constructor(
    database: Pick<RegionalDatabase, 'pool'>,
    private readonly announce: (channelId: string) => void,
  ) {
    this.#pool = database.pool;
  }

  async notify(claim: Pick<Claim, 'channelId' | 'webhookId' | 'lease'>, redirect: Redirect): Promise<void> {
    const { rowCount } = await this.#pool.query({
      name: 'notify-of-redirect',
      text: `WITH first AS (
               UPDATE webhook_cursors SET redirects_to = $4
               WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 AND redirects_to IS NULL RETURNING channel_id
             ), moved AS (
               UPDATE event_sequences s SET last_seq = s.last_seq + 1 FROM first WHERE s.channel_id = first.channel_id
               RETURNING s.channel_id, s.last_seq
             )
             INSERT INTO events (channel_id, seq, id, type, method, payload)
             SELECT channel_id, last_seq, gen_random_uuid(), 'service', 'post', $5::jsonb FROM moved`,
      values: [claim.channelId, claim.webhookId, claim.lease, redirect.to, JSON.stringify(redirectNotice(redirect))],
    });
    if (rowCount === 1) this.announce(claim.channelId);
  }
}

/** What the customer is told. */
export function redirectNotice({ status, to }: Redirect): EventPayloads['service.post'] {
  const details = `a webhook of this channel redirects to ${to}: set its url to where events are to go`;
  return { errors: [{ code: status, message: 'webhook redirects are not followed', details }] };
}
