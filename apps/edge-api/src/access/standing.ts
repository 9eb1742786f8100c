import { STANDING_REASONS, type ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';

/**
 * Standing is a flag on the channel; the edge asks nobody whether it is still true.
 * @throws {GatewayError} 402 saying which rule
 */
export function requireGoodStanding(channel: Pick<ChannelRecord, 'standing'>): void {
  if (channel.standing !== 'good') throw new GatewayError(402, { details: STANDING_REASONS[channel.standing] });
}
