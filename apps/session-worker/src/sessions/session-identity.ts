import type { SessionStateChange } from '@dormouse/channel-directory';
import { GatewayError, type SessionState } from '@dormouse/gateway-contract';
import { isProxyTrouble, needsPerson, PROXY_REFUSED } from '../socket/close-reasons.js';
import type { OwnIdentity } from '../socket/open-session.js';

/** The identity of a channel that is not linked. */
export const UNLINKED = { linked: false, phone: null, lid: null, deviceId: null, pushName: null } as const;

/** The identity of a channel as it is stored; what is not known stays as it was. */
export function identityColumns({
  phone,
  lid,
  deviceId,
  pushName,
}: OwnIdentity): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
  return { phone, deviceId, ...(lid === undefined ? {} : { lid }), ...(pushName === undefined ? {} : { pushName }) };
}

/** Why a linked session has no socket at the moment, for callers who need it. */
export function unavailableDetails({ asleep, reason }: { asleep: boolean; reason: string | null }): string {
  const trouble = proxyTrouble(reason);
  return `${asleep ? 'waking' : 'reconnecting'}${trouble === undefined ? '' : `: ${trouble}`}`;
}

/** What is wrong with the channel's proxy, if that is the reason. */
export function proxyTrouble(reason: string | null): string | undefined {
  if (!isProxyTrouble(reason)) return undefined;
  return `the proxy of the settings ${reason === PROXY_REFUSED.name ? 'refuses the connection' : 'cannot be reached'}`;
}

/**
 * @param waited the caller has waited for an attempt, which is over
 * @throws {GatewayError} 503 with the reason when no attempt to connect begins for the caller
 */
export function assertMayConnect(
  { linked, state, reason }: { linked: boolean; state: SessionState; reason: string | null },
  waited: boolean,
): void {
  if (!linked) throw notConnected('not linked: scan the QR code from GET /users/login/image');
  if (needsPerson(reason)) throw notConnected(`not connected: closed with ${reason}`);
  if (waited && state === 'closed') throw notConnected(`not connected: ${reason}`, 30);
  if (waited && state === 'hibernated' && reason !== null) throw notConnected(`waking failed: ${reason}`, 30);
}

/** The error of a call that sent nothing to the network, with the reason. */
export function notConnected(details: string, retryAfterS?: number): GatewayError {
  return new GatewayError(503, { details, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
}
