import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Account, Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import type { Node } from '../wire/node.js';
import type { AwaitingEffects } from './awaiting-effects.js';
import type { EventLog } from './event-log.js';
import type { GroupSessions } from './group-sessions.js';
import type { MessageLog, PhoneMessage } from './message-log.js';
import type { SignalSessions } from './signal.js';

/** How a phone behaves by itself. */
export interface PhoneSettings {
  /** Confirms the delivery of what it receives. */
  autoDeliver: boolean;
  /** Whether parts of the history go through the file host: never, when they are large, or always. */
  historyFiles?: 'large' | 'always' | undefined;
}

/** A message that a phone cannot read yet. */
export interface Unreadable {
  /** How often another copy was requested. */
  requests: number;
  /** A companion's request to this phone alone: clients do not make another copy of those. */
  isPeerRequest: boolean;
}

/** What a phone's owner set about a chat. */
export interface ChatSettings {
  archived?: boolean;
  /** When it was pinned. */
  pinnedAtMs?: number;
  /** -1: for ever. */
  mutedUntilMs?: number;
  /** Marked by hand; absent: as its messages are. */
  markedRead?: boolean;
  /** How long messages stay, and when that was set (seconds since 1970); 0 s: until they are deleted. */
  timer?: { seconds: number; setAt: number };
  clearedAtMs?: number;
  deletedAtMs?: number;
}

/** What a phone shares with its companions, opened: chats, starred messages, names of contacts. */
export interface SharedByPhone {
  chats: Record<string, ChatSettings>;
  starred: string[];
  contacts: Record<string, string>;
}

/** What the parts of a phone (sending, receiving, shared state) work with: its state, and its ways to the network. */
export interface PhoneContext {
  readonly network: Network;
  readonly account: Account;
  readonly messages: MessageLog;
  readonly sessions: SignalSessions;
  readonly groupSessions: GroupSessions;
  readonly events: EventLog;
  readonly settings: PhoneSettings;
  readonly shared: SharedByPhone;
  /** What arrived and could not be read, by id. */
  readonly unreadable: Map<string, Unreadable>;
  /** What changes messages that are still under way. */
  readonly awaiting: AwaitingEffects;
  /** Sends a stanza as this phone's device; refusals are thrown. */
  route(stanza: Node): void;
  /** Sends a receipt as this phone's device. */
  receipt(attrs: Record<string, string | undefined>, content?: Node[]): void;
  /** One receipt for messages of one chat and author; without a type: delivered. */
  sendReceipt(type: 'read' | 'played' | undefined, messages: PhoneMessage[]): void;
  /** Sends something meant for one own device only. */
  sendPeer(device: Device, content: proto.IMessage): Promise<void>;
}
