import type { SessionStateChange } from '@dormouse/channel-directory';
import { GatewayError } from '@dormouse/gateway-contract';
import { isProxyTrouble, PROXY_REFUSED } from '../socket/close-reasons.js';
import type { OwnIdentity } from '../socket/open-session.js';

/** Who the channel is when it is nobody. */
export const UNLINKED = { linked: false, phone: null, lid: null, deviceId: null, pushName: null } as const;

/** Who the channel is, as it is written down; what is not known stays as it was. */
export function identityColumns({
  phone,
  lid,
  deviceId,
  pushName,
}: OwnIdentity): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
  return { phone, deviceId, ...(lid === undefined ? {} : { lid }), ...(pushName === undefined ? {} : { pushName }) };
}

/** Why a linked session has no socket at the moment, for those who asked for it. */
export function unavailableDetails({ asleep, reason }: { asleep: boolean; reason: string | null }): string {
  const trouble = proxyTrouble(reason);
  return `${asleep ? 'waking' : 'reconnecting'}${trouble === undefined ? '' : `: ${trouble}`}`;
}

/** What is wrong with the channel's proxy, if that is the reason. */
export function proxyTrouble(reason: string | null): string | undefined {
  if (!isProxyTrouble(reason)) return undefined;
  return `the proxy of the settings ${reason === PROXY_REFUSED.name ? 'refuses the connection' : 'cannot be reached'}`;
}

/** Nothing was sent to the network, and why. */
export function notConnected(details: string, retryAfterS?: number): GatewayError {
  return new GatewayError(503, { details, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
}
