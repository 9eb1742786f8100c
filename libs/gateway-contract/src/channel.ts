import type { ContactShape } from './contacts.js';

/** States of a session; the table of moves is the session worker's. */
export const SESSION_STATES = ['closed', 'connecting', 'qr', 'open', 'hibernating', 'hibernated', 'waking'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export function isSessionState(text: string): text is SessionState {
  return (SESSION_STATES as readonly string[]).includes(text);
}

/** Values of `status.text`, each with its code. */
export const STATUS_CODES = {
  not_linked: 0,
  initializing: 1,
  connecting: 2,
  qr: 3,
  connected: 4,
  error: 5,
  sync_error: 6,
} as const;
export type StatusText = keyof typeof STATUS_CODES;

/** The compatible gateway's names, for channels that opt in with `legacy_status_text`. */
const LEGACY_STATUS_TEXTS: Record<StatusText, string> = {
  not_linked: 'NOT_INIT',
  initializing: 'INIT',
  connecting: 'LAUNCH',
  qr: 'QR',
  connected: 'AUTH',
  error: 'ERROR',
  sync_error: 'SYNC_ERROR',
};

/** The facts the status is computed from. */
export interface SessionFacts {
  state: SessionState;
  /** Name of the close reason the session rests with; null while nothing is wrong. */
  reason: string | null;
  /** Credentials are stored: later connects need no scan. */
  linked: boolean;
}

/** Why a session with a proxy is not connected: it never goes around the proxy. */
export const PROXY_REASONS = ['proxy_unreachable', 'proxy_refused'] as const;
export type ProxyReason = (typeof PROXY_REASONS)[number];

export interface ChannelStatus {
  code: number;
  text: string;
  /** Only when true: isHibernated and healthy, wakes on the next request that needs the socket. */
  hibernated?: true;
  /** Only when the channel's own settings are in the way: the session tries again by itself. */
  reason?: ProxyReason;
}

/** `status` of GET /health and of channel events: one function of the session's state. */
export function channelStatus(session: SessionFacts, options: { legacyText?: boolean } = {}): ChannelStatus {
  const text = statusText(session);
  const reason = PROXY_REASONS.find((name) => name === session.reason);
  const isHibernated = session.state === 'hibernated' || session.state === 'hibernating';
  return {
    code: STATUS_CODES[text],
    text: options.legacyText ? LEGACY_STATUS_TEXTS[text] : text,
    ...(isHibernated ? { hibernated: true as const } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

function statusText({ state, reason, linked }: SessionFacts): StatusText {
  switch (state) {
    case 'open':
    case 'hibernating':
    case 'hibernated':
      return 'connected';
    case 'qr':
      return 'qr';
    case 'waking':
      return 'connecting';
    case 'connecting':
      return linked ? 'connecting' : 'initializing';
    case 'closed':
      // A linked channel that stays closed has a problem that needs a person (banned, retries used up).
      return linked && reason !== null ? 'error' : linked ? 'connecting' : 'not_linked';
  }
}

/** Body of GET /health. */
export interface Health {
  channel_id: string;
  /** Epoch seconds since when the session is in its state. */
  start_at: number;
  /** Seconds since then. */
  uptime: number;
  version: string;
  device_id?: number;
  /** Address the session talks to the network from. */
  ip?: string;
  status: ChannelStatus;
  user?: ContactShape;
}

/** The code a person scans, as text; drawn as PNG by the edge. */
export interface LoginCode {
  code: string;
  /** Epoch milliseconds after which the network takes another code. */
  expiresAtMs: number;
}

export interface Success {
  success: true;
}
