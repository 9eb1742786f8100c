import type { EventPayloads } from '@dormouse/gateway-contract';
import type { Standing } from './channel-record.js';

/** Why a channel may not be billed, in the words of error 402. */
export const STANDING_REASONS: Record<Exclude<Standing, 'good'>, string> = {
  past_due: 'subscription past due',
  over_free_allowance: 'the free allowance of one connected number is exceeded',
};

/** The event that notifies a customer of a change of standing: the code that requests are answered with from now on. */
export function standingNotice(standing: Standing): EventPayloads['service.post'] {
  if (standing === 'good') return { errors: [{ code: 200, message: 'requests are answered again' }] };
  return { errors: [{ code: 402, message: 'payment required', details: STANDING_REASONS[standing] }] };
}
