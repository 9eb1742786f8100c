import type { ChannelRecord, Standing } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';

const WHY: Record<Exclude<Standing, 'good'>, string> = {
  past_due: 'subscription past due',
  over_free_allowance: 'the free allowance of one connected number is exceeded',
};

/**
 * Standing is a flag on the channel; the edge asks nobody whether it is still true.
 * @throws {GatewayError} 402 saying which rule
 */
export function requireGoodStanding(channel: Pick<ChannelRecord, 'standing'>): void {
  if (channel.standing !== 'good') throw new GatewayError(402, { details: WHY[channel.standing] });
}
