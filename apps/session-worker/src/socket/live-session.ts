/**
 * One socket generation of a channel.
 *
 * What it guarantees: whatever was received and decrypted is given to the listeners before the socket is gone (Baileys
 * drops its buffered events on `end`, after having acknowledged them to the network); a planned end lets the message
 * that is being decrypted come to its end and begins no other, so that the network keeps those; the network gets no
 * answer before the credentials it rests on are stored. Once `stored` has resolved, the dead socket can write no key.
 */
import type { Fence } from '@dormouse/database';
import type { GroupRecord } from '@dormouse/message-store/write';
import {
  ALL_WA_PATCH_NAMES,
  jidDecode,
  type AuthenticationCreds,
  type BinaryNode,
  type WAMessage,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Dispatcher } from 'undici';
import { OutboundFrameGate, type FrameSender } from './patches/outbound-frame-gate.js';
import type { NetworkAuthState } from './key-format.js';
import type { InboundJournal } from './inbound-journal.js';
import type { CollectionName, SharedStateJournal } from './shared-state-journal.js';
import { patchStanzas } from './patches/apply.js';
import type { ChatMoments } from './patches/shared-state-changes.js';
import { closeReasonOf, type CloseReason } from './close-reasons.js';
import { deferred, endsWithin } from './deferred.js';
import { EventDelivery } from './event-delivery.js';
import type { EncryptionBarrier } from './patches/encryption-barrier.js';
import { MessageAcks } from './message-acks.js';
import { networkSessionOf, type NetworkSession } from './network-session.js';
import type { Attachment, GroupLookup, MessageAck, OpenSession, OwnIdentity, SessionListener } from './open-session.js';
import { requestPhoneCode } from './phone-code.js';
import { PlayedReceipts } from './patches/played-receipts.js';

/** What a socket reports to its session. */
export interface LiveEvents {
  /** The network offers a code to scan. */
  code(live: LiveSession, code: string): void;
  /** Scanned: the credentials are the device's now. The network is answered once the returned promise resolves. */
  paired(live: LiveSession): Promise<void>;
  opened(live: LiveSession): void;
  /** A message came, or one was sent from the phone. */
  received(live: LiveSession): void;
  /** All that came while the session was away has been delivered. */
  caughtUp(live: LiveSession): void;
  /** Own name, number or LID may have changed. */
  identified(live: LiveSession): void;
  /** Everything received has been handed to the listeners. */
  closed(live: LiveSession, reason: CloseReason): void;
}

export interface LiveOptions {
  readonly channelId: string;
  readonly fence: Fence;
  readonly generation: number;
  readonly auth: NetworkAuthState;
  readonly journal: InboundJournal;
  readonly sharedState: SharedStateJournal;
  /** Up to which moments chats were deleted or read on the phone. */
  readonly moments: Pick<ChatMoments, 'until'>;
  readonly encryptionBarrier: Pick<EncryptionBarrier, 'hold'>;
  readonly socket: WASocket;
  /** How files are fetched; undefined: directly. */
  readonly fileRoute: Dispatcher | undefined;
  readonly listeners: readonly SessionListener[];
  readonly ackWaitMs: number;
  readonly groups: GroupLookup;
  readonly events: LiveEvents;
  readonly onAck: (ack: MessageAck) => void;
  readonly onFault: (error: unknown) => void;
}

/** A planned end waits no longer for the message that is being decrypted. */
const HOLD_WITHIN_MS = 5_000;
/** The same for a socket that is dead: a message whose handling queries the network never ends then. */
const HOLD_DEAD_WITHIN_MS = 1_000;
/** Timeout of closing the connection in order. */
const CLOSE_WITHIN_MS = 2_000;
/** Stanzas that the network keeps until they are answered. */
const KEPT_STANZAS = ['CB:message', 'CB:receipt', 'CB:notification', 'CB:call'] as const;

/** The raw WebSocket below Baileys' client. */
interface RawSocket extends FrameSender {
  terminate(): void;
}

function rawSocketOf(socket: WASocket): RawSocket {
  const raw: unknown = Reflect.get(socket.ws, 'socket');
  if (typeof raw !== 'object' || raw === null || !('terminate' in raw)) throw new Error('the socket has no WebSocket');
  return raw as RawSocket;
}

export class LiveSession implements OpenSession {
  readonly channelId: string;
  readonly fence: Fence;
  readonly generation: number;
  readonly network: NetworkSession;
  /** The library's own; nothing outside of this folder uses it. */
  readonly socket: WASocket;
  readonly fileRoute: Dispatcher | undefined;
  private readonly raw: RawSocket;
  private readonly gate = new OutboundFrameGate();
  private readonly acks: MessageAcks;
  private readonly attachments: Attachment[];
  private readonly played = new PlayedReceipts();
  private readonly delivery: EventDelivery;
  private readonly gone = deferred<void>();
  private over = false;
  private holding: Promise<void> | undefined;

  constructor(private readonly options: LiveOptions) {
    this.channelId = options.channelId;
    this.fence = options.fence;
    this.generation = options.generation;
    this.socket = options.socket;
    this.network = networkSessionOf(options.socket);
    this.fileRoute = options.fileRoute;
    this.raw = rawSocketOf(options.socket);
    this.acks = new MessageAcks(options.ackWaitMs, options.onAck);
    this.gate.guard(this.raw);
    this.attachments = options.listeners.map((listener) => listener.attach(this));
    this.listen();
    const isSetUp = (): boolean => options.auth.creds.accountSyncCounter > 0;
    this.delivery = new EventDelivery(this.socket.ev, isSetUp);
    const stored = (): Promise<boolean> => this.storedSoFar();
    const hasWaited = (message: WAMessage): boolean => this.hasWaited(message);
    const hold = (write: Promise<void>): void => this.hold(write);
    patchStanzas(this.socket, { journal: options.journal, played: this.played, stored, hold, hasWaited, isSetUp });
    options.sharedState.follow(this.socket, stored);
    // Nothing is sent to the network, not even a greeting, before what earlier sockets left is delivered.
    this.hold(options.journal.replay(this.socket));
  }

  get identity(): OwnIdentity {
    const identity = identityOf(this.options.auth.creds);
    if (!identity) throw new Error('the session is not linked');
    return identity;
  }

  expectAck(messageId: string, written: Promise<unknown>): Promise<MessageAck> {
    return this.acks.expect(messageId, written);
  }

  awaitsAck(messageId: string): boolean {
    return this.acks.awaits(messageId);
  }

  holdCiphertext(work: Promise<unknown>): () => void {
    return this.options.encryptionBarrier.hold(work);
  }

  group(groupId: string): Promise<GroupRecord> {
    return this.options.groups.read(this, groupId);
  }

  hasWaited(message: { readonly key: { id?: string | null } }): boolean {
    return this.options.journal.hasWaited(message);
  }

  settle(messages: readonly WAMessage[]): void {
    this.options.journal.settled(messages);
  }

  forgetSettled(): Promise<void> {
    return this.options.journal.flush();
  }

  takePlayed(key: Pick<WAMessageKey, 'id'>, userJid: string | null | undefined): boolean {
    return this.played.take(key, userJid);
  }

  deletedUntilS(jid: string): number | undefined {
    return this.options.moments.until('deleted', jid);
  }

  readUntilS(jid: string): number | undefined {
    return this.options.moments.until('read', jid);
  }

  reportFault(error: unknown): void {
    this.options.onFault(error);
  }

  /** A code of eight letters to be entered on the phone of this number. @throws {GatewayError} 400, 503 */
  phoneCode(phone: string): Promise<string> {
    return requestPhoneCode(this.socket, phone);
  }

  /** Has the socket ended? */
  get ended(): boolean {
    return this.over;
  }

  /** Ends gently. Resolves when everything received is stored, as far as it could be. */
  async end(): Promise<void> {
    if (!this.over) {
      await endsWithin(HOLD_WITHIN_MS, this.holdMessages());
      this.close();
    }
    await this.stored();
  }

  /** Notifies the network that the device is gone, then ends. Throws when that failed. */
  async logout(): Promise<void> {
    if (this.over) throw new Error('the connection is closed');
    await endsWithin(HOLD_WITHIN_MS, this.holdMessages());
    await this.socket.logout();
    await endsWithin(CLOSE_WITHIN_MS, this.gone.promise);
    this.close();
    await this.stored();
  }

  /** Ends at once, without waiting for anything. */
  kill(): void {
    this.close();
    this.raw.terminate();
  }

  /** After the end: resolves when everything received is stored and no key can be written any more. */
  async stored(): Promise<void> {
    await endsWithin(HOLD_DEAD_WITHIN_MS, this.holdMessages());
    await Promise.all(this.attachments.map((attachment) => attachment.drained()));
    await this.options.sharedState.confirm();
    await this.options.journal.flush();
    await this.options.auth.retire();
  }

  /** Resolves when everything that the library has emitted so far is stored; false when something could not be. */
  private async storedSoFar(): Promise<boolean> {
    await this.delivery.all();
    const stored = await Promise.all(this.attachments.map(async (attachment) => (await attachment.stored?.()) ?? true));
    return stored.every(Boolean);
  }

  /** What earlier sockets took of the phone's shared state and did not store, and what a first link left unasked. */
  private async resumeSharedState(): Promise<void> {
    const { auth, sharedState } = this.options;
    const { accountSyncCounter, myAppStateKeyId } = auth.creds;
    const isInterrupted = accountSyncCounter === 0 && myAppStateKeyId !== undefined;
    const unconfirmed = await sharedState.unconfirmed();
    const names: readonly CollectionName[] = isInterrupted ? ALL_WA_PATCH_NAMES : unconfirmed;
    if (names.length > 0) await this.socket.resyncAppState(names, false);
  }

  private listen(): void {
    const { ev, ws } = this.socket;
    ws.on('CB:ack,class:message', (node: BinaryNode) => this.acks.receive(node));
    ev.on('creds.update', () => this.guarded(() => this.saveCreds()));
    ev.on('messages.upsert', () => this.guarded(() => this.options.events.received(this)));
    ev.on('connection.update', ({ connection, qr, isNewLogin, lastDisconnect, receivedPendingNotifications }) =>
      this.guarded(() => {
        const { events } = this.options;
        if (connection === 'close') return this.handleClose(closeReasonOf(lastDisconnect?.error));
        if (this.over) return;
        if (isNewLogin) this.hold(events.paired(this));
        if (qr) events.code(this, qr);
        if (connection === 'open') {
          events.opened(this);
          this.resumeSharedState().catch((error: unknown) => this.reportFault(error));
        }
        if (receivedPendingNotifications) events.caughtUp(this);
      }),
    );
  }

  private saveCreds(): void {
    // A pairing that did not succeed leaves nothing to store, also one by letters, which names a number from its start.
    if (!this.options.auth.creds.account) return;
    this.hold(this.options.auth.saveCreds());
    this.options.events.identified(this);
  }

  /** Nothing more is sent to the network until this is durable; if it cannot be made so, the socket is worthless. */
  private hold(write: Promise<void>): void {
    this.gate.hold(write);
    write.catch((error: unknown) => {
      this.reportFault(error);
      this.kill();
    });
  }

  /** Called synchronously by Baileys just before it throws its buffer away. */
  private handleClose(reason: CloseReason): void {
    this.socket.ev.flush();
    void this.holdMessages();
    this.over = true;
    this.acks.end();
    this.gone.resolve();
    this.options.events.closed(this, reason);
  }

  private close(): void {
    if (this.over) return;
    this.socket.ev.flush();
    this.over = true;
    this.acks.end();
    void this.socket.end(undefined); // stops listening to the wire at once, closes in the background
    const cut = setTimeout(() => this.raw.terminate(), CLOSE_WITHIN_MS);
    void this.gone.promise.finally(() => clearTimeout(cut));
  }

  /**
   * Leaves everything that is not yet being handled to the next socket. Baileys decrypts one message at a time, in a
   * mutex: it is taken and never given back, so those that wait for it are neither decrypted nor acknowledged, and the
   * network brings them again. Answers to our own queries are still received.
   * @returns resolves when no message is being decrypted
   */
  private holdMessages(): Promise<void> {
    if (this.holding) return this.holding;
    for (const stanza of KEPT_STANZAS) this.socket.ws.removeAllListeners(stanza);
    const held = deferred<void>();
    void this.socket.messageMutex.mutex(() => {
      held.resolve();
      return new Promise<never>(() => undefined);
    });
    this.holding = held.promise;
    return held.promise;
  }

  /** A mistake in one handler must not reach the library's code or another session. */
  private guarded(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.reportFault(error);
    }
  }
}

/** Undefined before the link. */
export function identityOf({ me }: Pick<AuthenticationCreds, 'me'>): OwnIdentity | undefined {
  const own = me && jidDecode(me.id);
  if (!own) return undefined;
  return {
    phone: own.user,
    lid: me.lid === undefined ? undefined : jidDecode(me.lid)?.user,
    deviceId: own.device ?? 0,
    pushName: me.name === undefined || me.name === '' ? undefined : me.name,
  };
}
