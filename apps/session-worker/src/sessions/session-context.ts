import type { LogOf } from '@dormouse/bootstrap';
import type { SessionStateChange } from '@dormouse/channel-directory';
import type { Fence } from '@dormouse/database';
import type { LoginCode } from '@dormouse/gateway-contract';
import type { NetworkAuthStates } from '../socket/key-format.js';
import type { HeldShard } from '../shards/shard-owner.js';
import type { Hibernation } from '../hibernation/hibernation.js';
import type { CloseReason } from '../socket/close-reasons.js';
import type { SocketFactory } from '../socket/socket-factory.js';
import type { ConnectSettingsReader } from './connect-settings.js';
import type { ConnectSlots } from './connect-slots.js';
import type { LinkFailures } from './linking.js';
import type { BackoffLimits } from './reconnect-backoff.js';

export type SessionLog = LogOf<'debug' | 'info' | 'warn' | 'error'>;

/** Stores the states of sessions and notifies customers of them, see `StateEvents`. */
export interface SessionStates {
  /** Stores a state under the fence. @returns false when the channel does not exist */
  record(fence: Fence, channelId: string, change: SessionStateChange): Promise<boolean>;
  /** Notifies of a code that can be scanned, in the background. */
  offered(fence: Fence, channelId: string, code: LoginCode): void;
}

/** Counts what happens to sessions. */
export interface SessionObserver {
  /** A session is open after a sleep; milliseconds since it was requested. */
  woken(tookMs: number): void;
  /** A wake was given up: its callers are answered, and the session sleeps on. */
  wakeFailed(reason: CloseReason): void;
  /** A socket closed by itself. */
  closed(reason: CloseReason): void;
}

/** What all sessions of a worker share. */
export interface SessionParts {
  readonly authStates: Pick<NetworkAuthStates, 'load' | 'open' | 'create' | 'wipe'>;
  /** Stores the state of sleeping sessions. */
  readonly hibernation: Pick<Hibernation, 'seal' | 'restore' | 'postpone' | 'forget'>;
  readonly settings: Pick<ConnectSettingsReader, 'read'>;
  readonly sockets: Pick<SocketFactory, 'open'>;
  readonly slots: Pick<ConnectSlots, 'take'>;
  readonly states: SessionStates;
  readonly observer: SessionObserver;
  readonly linkFailures: LinkFailures;
  readonly backoff: BackoffLimits;
  /** How long a session rests after its last attempt to connect, in milliseconds. */
  readonly restMs: number;
  readonly log: SessionLog;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The surroundings of one session. */
export interface SessionContext extends SessionParts {
  readonly held: HeldShard;
}
