import type { SessionStateChange } from '@dormouse/channel-directory';
import type { LoginCode } from '@dormouse/gateway-contract';
import type { NetworkAuthState } from '../socket/key-format.js';
import type { Ownership } from '../shards/ownership.js';
import type { HeldShard } from '../shards/shard-owner.js';
import type { Hibernation } from '../hibernation/hibernation.js';
import type { CloseReason } from '../socket/close-reasons.js';
import type { LinkFailures } from './linking.js';
import type { ConnectSettings, SocketFactory } from '../socket/socket-factory.js';
import type { BackoffLimits } from './reconnect-backoff.js';

export interface SessionLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
  debug(facts: object, text: string): void;
}

/** What a session needs from its surroundings. */
export interface SessionContext {
  readonly held: HeldShard;
  readonly authStates: {
    load(owner: Ownership, channelId: string): Promise<NetworkAuthState | undefined>;
    create(owner: Ownership, channelId: string): Promise<NetworkAuthState>;
    wipe(owner: Ownership, channelId: string): Promise<void>;
  };
  /** What of the channel's settings concerns a connect, as it is now. */
  readonly connectSettings: (channelId: string) => Promise<ConnectSettings>;
  /** Where the state of sleeping sessions is. */
  readonly hibernation: Pick<Hibernation, 'seal' | 'restore' | 'postpone' | 'forget'>;
  /** Makes its sockets. */
  readonly sockets: Pick<SocketFactory, 'open'>;
  /** Waits for permission to connect, see `ConnectSlots`; what it returns ends the permission. */
  readonly takeConnectSlot: (isUrgent: () => boolean) => Promise<() => void>;
  /** Writes a state down, under the fence. */
  readonly record: (channelId: string, change: SessionStateChange) => Promise<boolean>;
  /** A code can be scanned. */
  readonly onCode: (channelId: string, code: LoginCode) => void;
  readonly backoff: BackoffLimits;
  /** What became of attempts to link. */
  readonly linkFailures: LinkFailures;
  /** How long a session rests after its attempts are used up. */
  readonly restMs: number;
  readonly log: SessionLog;
  /** Opened after a sleep; milliseconds since it was requested. */
  readonly onWoken: (tookMs: number) => void;
  /** A wake was given up: its callers are answered, and the session sleeps on. */
  readonly onWakeFailed: (reason: CloseReason) => void;
  readonly onClosed: (reason: CloseReason) => void;
  /** The session may be forgotten. */
  readonly onDormant: (channelId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
