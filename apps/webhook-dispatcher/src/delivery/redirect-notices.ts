import type { RegionalDatabase } from '@dormouse/database';
import { recordRedirect, type Claim } from '@dormouse/event-outbox/delivery';
import type { EventPayloads } from '@dormouse/gateway-contract';

/** What a receiver answered in place of accepting an event. */
export interface Redirect {
  status: number;
  /** Absolute address, as text for people. */
  to: string;
}

/**
 * Notifies the customer, by an event of the channel, that a webhook answers with redirects: of the first one only.
 */
export class RedirectNotices {
  /** @param announce is called with the channel of a notice that was written */
  constructor(
    private readonly database: Pick<RegionalDatabase, 'pool'>,
    private readonly announce: (channelId: string) => void,
  ) {}

  async notify(claim: Pick<Claim, 'channelId' | 'webhookId' | 'lease'>, redirect: Redirect): Promise<void> {
    const notice = { type: 'service', method: 'post', payload: redirectNotice(redirect) } as const;
    if (await recordRedirect(this.database, claim, redirect.to, notice)) this.announce(claim.channelId);
  }
}

/** What the customer reads. */
export function redirectNotice({ status, to }: Redirect): EventPayloads['service.post'] {
  const details = `a webhook of this channel redirects to ${to}: set its url to where events are to go`;
  return { errors: [{ code: status, message: 'webhook redirects are not followed', details }] };
}
