import { STANDING_REASONS, type ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';

/**
 * Standing is a stored flag of the channel; the edge queries no billing service.
 * @throws {GatewayError} 402 whose details name the rule
 */
export function requireGoodStanding(channel: Pick<ChannelRecord, 'standing'>): void {
  if (channel.standing !== 'good') throw new GatewayError(402, { details: STANDING_REASONS[channel.standing] });
}
