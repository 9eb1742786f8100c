/**
 * Why a socket closed, as a table: what follows, and who is notified. The codes are those Baileys 7.0.0-rc14 puts
 * into `lastDisconnect` (its own `DisconnectReason`, the `reason` of a `<failure>`, the `code` of a `<stream:error>`);
 * what the network means by 402, 403 and 406 is known from other clients of it.
 */

import { PROXY_REASONS, type ProxyReason } from '@dormouse/gateway-contract';
import { Boom } from '@hapi/boom';
import { proxyFailureIn } from '../proxy/proxy-failure.js';

/** What the session does next. */
export type AfterClose =
  /** Connects again at once with the same credentials: an orderly part of linking. */
  | 'restart'
  /** Connects again after the backoff, until the cap. */
  | 'retry'
  /** The same, however often: these attempts do not reach the network. */
  | 'persist'
  /** Another holder of this device connected: checks whether the shard is still ours, and if so retries much later. */
  | 'yield'
  /** Stays closed until a person has acted; credentials are kept, because the verdict may be lifted. */
  | 'rest'
  /** The network has forgotten the device: credentials are worthless and wiped, a new scan is needed. */
  | 'unlink';

export interface CloseReason {
  /** Stored as the session's reason and shown to operators. */
  readonly name: string;
  readonly next: AfterClose;
  /** Whom it concerns beyond the session itself. */
  readonly notifies: 'nobody' | 'customer' | 'operator';
}

const reason = (name: string, next: AfterClose, notifies: CloseReason['notifies'] = 'nobody'): CloseReason => ({
  name,
  next,
  notifies,
});

export const CLOSE_REASONS: ReadonlyMap<number, CloseReason> = new Map([
  [400, reason('server_refused', 'retry', 'operator')], // its certificate, above all
  [401, reason('unlinked', 'unlink', 'customer')],
  [402, reason('temporarily_banned', 'rest', 'customer')],
  [403, reason('locked', 'rest', 'customer')],
  [405, reason('client_outdated', 'retry', 'operator')],
  [406, reason('banned', 'rest', 'customer')],
  [408, reason('connection_lost', 'retry')],
  [411, reason('multidevice_mismatch', 'rest', 'customer')],
  [428, reason('connection_closed', 'retry')],
  [440, reason('replaced', 'yield', 'operator')],
  [500, reason('stream_error', 'retry')],
  [503, reason('network_unavailable', 'retry')],
  [515, reason('restart_required', 'restart')],
]);

/** An unknown code is treated as a temporary failure. */
const UNKNOWN = reason('unknown', 'retry', 'operator');

/** PostgreSQL or the object storage did not give what a connect needs. */
export const STORES_AWAY: CloseReason = reason('stores_away', 'retry', 'operator');
/** A pairing whose codes were all shown without a scan. */
export const CODES_USED_UP: CloseReason = reason('codes_used_up', 'retry');
/** The reason a session rests with once its attempts are used up. */
export const ATTEMPTS_USED_UP: CloseReason = reason('unreachable', 'rest', 'operator');
/** The stored credentials cannot be read; nothing is overwritten. */
export const STATE_UNREADABLE: CloseReason = reason('state_unreadable', 'rest', 'operator');

/** The channel's proxy cannot be reached. The session never goes around it: that would show the network our address. */
export const PROXY_UNREACHABLE: CloseReason = reason('proxy_unreachable' satisfies ProxyReason, 'persist', 'customer');
/** It is there, and does not take the password or does not connect us. */
export const PROXY_REFUSED: CloseReason = reason('proxy_refused' satisfies ProxyReason, 'persist', 'customer');

/** The message of Baileys 7.0.0-rc14 when the codes of a pairing are used up (`socket.js`, beside a 408). */
const CODES_ENDED = 'QR refs attempts ended';

/** Is it the proxy that keeps the session from the network? */
export function isProxyTrouble(reasonName: string | null): boolean {
  return PROXY_REASONS.some((name) => name === reasonName);
}

/** @param error `lastDisconnect.error`, as the library gives it */
export function closeReasonOf(error: Error | undefined): CloseReason {
  const failure = proxyFailureIn(error);
  if (failure) return failure.how === 'refused' ? PROXY_REFUSED : PROXY_UNREACHABLE;
  return error?.message === CODES_ENDED ? CODES_USED_UP : closeReason(statusOf(error));
}

export function closeReason(code: number | undefined): CloseReason {
  return (code === undefined ? undefined : CLOSE_REASONS.get(code)) ?? UNKNOWN;
}

/** Must a person act before the session may connect again, even under a new owner? */
export function needsPerson(reasonName: string | null): boolean {
  if (reasonName === null) return false;
  return [...CLOSE_REASONS.values()].some(({ name, next }) => next === 'rest' && name === reasonName);
}

function statusOf(error: Error | undefined): number | undefined {
  if (error instanceof Boom) return error.output.statusCode;
  const output: unknown = error && Reflect.get(error, 'output');
  const status: unknown = typeof output === 'object' && output !== null && Reflect.get(output, 'statusCode');
  return typeof status === 'number' ? status : undefined;
}
