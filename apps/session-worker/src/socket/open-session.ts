/**
 * What commands (which send) and inbound (which receives) get of a session: one live socket of one
 * channel. Neither of the two is known here.
 */
import type { Fence } from '@dormouse/database';
import type { GroupRecord } from '@dormouse/message-store/write';
import type { Dispatcher } from 'undici';
import type { MessageContent } from '../convert/message-bytes.js';
import type { GroupDescription, NetworkMessage } from './network-events.js';
import type { NetworkSession } from './network-session.js';
import type { MessageKey } from './requests/message-requests.js';

/** Who the linked device is, as of the credentials at the moment of reading. */
export interface OwnIdentity {
  /** Digits of the linked number. */
  readonly phone: string;
  /** User part of the own `@lid` address; the network sends it at login. */
  readonly lid: string | undefined;
  /** Index of this linked device; the phone itself is 0. */
  readonly deviceId: number;
  /** The name the phone's owner shows to others, once known. */
  readonly pushName: string | undefined;
}

/** The network's own acknowledgement of a message that was sent. */
export interface MessageAck {
  /** The network's refusal code (`463`, `404` ...); absent when the message was accepted. */
  readonly error?: string;
  /** When the network took it, in epoch seconds. */
  readonly timestampS?: number;
}

/** One object per socket generation: it never changes its connection and is useless once that is closed. */
export interface OpenSession {
  readonly channelId: string;
  /** The ownership under which everything received or sent here is written. */
  readonly fence: Fence;
  readonly network: NetworkSession;
  /** How files of the network are fetched for this channel; absent: directly. */
  readonly fileRoute?: Dispatcher | undefined;
  /** Counts the sockets of this channel in this worker; a later one never reuses the number. */
  readonly generation: number;
  /** Read live from the credentials (the library's own copy is stale by design). Throws before the link. */
  readonly identity: OwnIdentity;
  /**
   * Resolves with the network's ack of this message id. Call it before sending: the ack may come first.
   * @param written when the message is on the wire: the bounded wait begins then
   * @throws {GatewayError} 502 after the bounded wait, or when the socket closes before the ack
   */
  expectAck(messageId: string, written: Promise<unknown>): Promise<MessageAck>;
  /** Is the network's ack of this message id still waited for? */
  awaitsAck(messageId: string): boolean;
  /**
   * What is encrypted from now on is not sent before this work has ended well, and not at all if it fails.
   * @returns ends the hold; call it when the words are on the wire, or given up
   */
  holdCiphertext(work: Promise<unknown>): () => void;
  /**
   * A group the channel is in, from the store while that is true.
   * @throws {GatewayError} 404 when there is no such group or the channel is not in it
   */
  group(groupId: string): Promise<GroupRecord>;
  /** Did this message wait at the network while the session was away? Known until it is settled. */
  hasWaited(message: { readonly key: { id?: string | null } }): boolean;
  /** These messages are stored, or nothing is to be stored of them: they need not be kept for another socket. */
  settle(messages: readonly NetworkMessage[]): void;
  /**
   * Resolves when nothing is kept any more of what was settled: to be awaited before stored messages are deleted, which
   * would be taken for new ones if they were delivered again.
   */
  forgetSettled(): Promise<void>;
  /** Is the receipt of this message by this member of a group one of playing? Known until it is read here. */
  takePlayed(key: Pick<MessageKey, 'id'>, userJid: string | null | undefined): boolean;
  /** Up to which moment (epoch seconds) this chat was deleted on the phone, when that was received a moment ago. */
  deletedUntilS(jid: string): number | undefined;
  /** The same of a chat that was read on the phone or another device. */
  readUntilS(jid: string): number | undefined;
  /**
   * Reports to the session that something done for it failed. A `FencedError` ends every session of the shard, because
   * the shard has a newer owner; anything else is logged without content.
   */
  reportFault(error: unknown): void;
}

/** What a listener promises about one socket generation. */
export interface Attachment {
  /** Resolves when everything received so far from this socket is stored. Must not reject. */
  drained(): Promise<void>;
  /**
   * Resolves when everything received so far is stored: with false when something is not, because the store is away or the
   * shard has a newer owner, so that it must be received again. What can never be stored, by its own fault, does not count.
   */
  stored?(): Promise<boolean>;
}

/** Called with every new socket before any of its events can arrive. */
export interface SessionListener {
  attach(session: OpenSession): Attachment;
}

/** What is known of groups. */
export interface GroupLookup {
  /** See {@link OpenSession.group}. */
  read(session: OpenSession, groupId: string): Promise<GroupRecord>;
  /** Whom a message to the group is encrypted for; undefined when only the network knows. */
  addressed(session: OpenSession, groupId: string): Promise<GroupDescription | undefined>;
}

/**
 * Finds what was sent under a key, for a recipient that could not decrypt it. May answer long after it was sent, by
 * another socket or worker.
 */
export type RetryMessageLookup = (session: OpenSession, key: MessageKey) => Promise<MessageContent | undefined>;
