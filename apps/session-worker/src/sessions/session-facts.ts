import type { SessionStateChange } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';
import type { OwnIdentity } from './open-session.js';

/** Who the channel is when it is nobody. */
export const NOBODY = { linked: false, phone: null, lid: null, deviceId: null, pushName: null } as const;

/** Who the channel is, as it is written down; what is not known stays as it was. */
export function whoIs({
  phone,
  lid,
  deviceId,
  pushName,
}: OwnIdentity): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
  return { phone, deviceId, ...(lid === undefined ? {} : { lid }), ...(pushName === undefined ? {} : { pushName }) };
}

/** Nothing was said to the network, and why. */
export function notConnected(details: string, retryAfterS?: number): GatewayError {
  return new GatewayError(503, { details, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
}
