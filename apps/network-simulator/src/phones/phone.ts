import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Account } from '../network/account.js';
import type { Device } from '../network/account.js';
import { routeMessage } from '../delivery/messages.js';
import type { Network } from '../network/network.js';
import type { PhoneEvent } from '../network/phone-event.js';
import type { PrimaryDevice } from '../network/primary-device.js';
import { routeReceipt } from '../delivery/receipts.js';
import type { OpenedChange } from '../shared-state/read.js';
import { PHONE_SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import { collectionOf } from '../shared-state/collection.js';
import { bootstrapMessages } from './history.js';
import { sharePushName } from './change-chats.js';
import { applyChanges } from './chat-settings.js';
import { compose, type Draft } from './compose.js';
import { encodeContent } from './content.js';
import { AwaitingEffects } from './awaiting-effects.js';
import { EventLog } from './event-log.js';
import { GroupSessions, type GroupSessionState } from './group-sessions.js';
import { receiveMessage } from './incoming.js';
import type { KeptMessages } from './kept-messages.js';
import { isUnread, MessageLog, type MessageFilter, type MessageStatus, type PhoneMessage } from './message-log.js';
import { receiveReceipt } from './incoming-receipts.js';
import { receiveNotice } from './notices.js';
import { uploadAgain } from './media-retry.js';
import { newMessageId, sendContent, type SendOptions } from './outgoing.js';
import type { ChatSettings, PhoneContext, PhoneSettings, SharedByPhone, Unreadable } from './phone-context.js';
import { Serial } from './serial.js';
import { pad, SignalSessions } from './signal.js';

interface PhoneState {
  sessions: Record<string, unknown>;
  groups?: GroupSessionState;
  settings: PhoneSettings;
  shared?: SharedByPhone;
}

/**
 * The virtual phone of a number: the primary device, always there. It stores its chats, encrypts for every device of whom it
 * writes to and of its own account, answers retry requests from what it stored, and confirms what it gets.
 */
export class Phone implements PhoneContext, PrimaryDevice {
  readonly messages: MessageLog;
  readonly sessions: SignalSessions;
  readonly groupSessions: GroupSessions;
  readonly events: EventLog;
  readonly settings: PhoneSettings;
  readonly shared: SharedByPhone;
  /** What arrived and could not be read, by id. */
  readonly unreadable = new Map<string, Unreadable>();
  /** What changes messages that are still under way. */
  readonly awaiting = new AwaitingEffects();
  private readonly serial = new Serial();

  constructor(
    readonly network: Network,
    readonly account: Account,
    /** Called with every chat that the phone has its first message of. */
    chatBegan: (phone: Phone, chat: string) => void,
    kept: KeptMessages,
  ) {
    const stored = network.accounts.storedPhoneState(account.phone) as PhoneState | undefined;
    this.sessions = new SignalSessions(network, account, stored?.sessions);
    this.groupSessions = new GroupSessions(account, stored?.groups);
    this.settings = { autoDeliver: true, ...stored?.settings };
    this.shared = { chats: {}, starred: [], contacts: {}, ...stored?.shared };
    this.messages = new MessageLog(network.store, `accounts/${account.phone}.log`, {
      kept,
      chatBegan: (chat) => chatBegan(this, chat),
    });
    this.events = new EventLog(network.store, `accounts/${account.phone}.events`);
    network.accounts.attachPhoneState(account.phone, (): PhoneState => ({
      sessions: this.sessions.snapshot(),
      groups: this.groupSessions.snapshot(),
      settings: this.settings,
      shared: this.shared,
    }));
  }

  /** Reads the messages, and what happened in groups, that were stored. */
  async load(): Promise<void> {
    await this.messages.load();
    await this.events.load();
  }

  /** A stanza that the network brings. Order is kept; what is not for phones is let pass. */
  receive(stanza: Node): void {
    if (stanza.tag === 'message') this.do(() => receiveMessage(this, stanza));
    if (stanza.tag === 'receipt') this.do(() => receiveReceipt(this, stanza));
    if (stanza.tag === 'notification') this.do(() => receiveNotice(this, stanza));
  }

  /** Sends a text; returns the message as this phone stores it. Throws {@link Refusal} when the network refuses. */
  sendText(to: string, text: string, options: SendOptions = {}): Promise<PhoneMessage> {
    return this.send(to, { conversation: text }, options);
  }

  /** Sends what somebody put together at the phone. */
  sendDraft(to: string, draft: Draft, options: SendOptions = {}): Promise<PhoneMessage> {
    const chat = to.includes('@') ? to : `${to}@${PHONE_SERVER}`;
    return this.serial.run(() => {
      const { content, ...more } = compose(this, chat, draft);
      return sendContent(this, chat, content, { ...options, ...more });
    });
  }

  /** Sends any content to a chat (digits or an address). */
  send(to: string, content: proto.IMessage, options: SendOptions = {}): Promise<PhoneMessage> {
    const chat = to.includes('@') ? to : `${to}@${PHONE_SERVER}`;
    return this.serial.run(() => sendContent(this, chat, content, options));
  }

  /** Sends a stanza as this phone's device; refusals are thrown. */
  route(stanza: Node): void {
    routeMessage(this.network, { account: this.account, device: 0 }, stanza);
  }

  receipt(attrs: Record<string, string | undefined>, content?: Node[]): void {
    routeReceipt(this.network, { account: this.account, device: 0 }, node('receipt', attrs, content));
  }

  /** Reads a chat: the senders are notified, and our own companions. Returns the ids that were marked. */
  read(chat: string, ids?: string[]): string[] {
    const wanted = this.messages
      .all({ chat, fromMe: false })
      .filter(({ id, status }) => (ids ? ids.includes(id) : true) && status !== 'read' && status !== 'played');
    const bySender = new Map<string, PhoneMessage[]>();
    for (const message of wanted) {
      const key = `${message.wireChat}|${message.wireAuthor ?? ''}`;
      bySender.set(key, [...(bySender.get(key) ?? []), message]);
    }
    for (const group of bySender.values()) this.sendReceipt('read', group);
    for (const message of wanted) this.messages.advance(message, 'read');
    return wanted.map(({ id }) => id);
  }

  /** Plays voice messages of a chat: the senders are notified. Returns the ids that were marked. */
  play(chat: string, ids?: string[]): string[] {
    const wanted = this.messages
      .all({ chat, fromMe: false })
      .filter(({ id, type, status }) => (ids ? ids.includes(id) : type === 'voice') && status !== 'played');
    for (const message of wanted) {
      this.sendReceipt('played', [message]);
      this.messages.advance(message, 'played');
    }
    return wanted.map(({ id }) => id);
  }

  /** One receipt for messages of one chat and author. */
  sendReceipt(type: 'read' | 'played' | undefined, messages: PhoneMessage[]): void {
    const [first, ...others] = messages;
    if (!first) return;
    const items = others.map(({ id }) => node('item', { id }));
    this.receipt(
      { id: first.id, to: first.wireChat, participant: first.wireAuthor, type, t: this.network.timestamp() },
      items.length > 0 ? [node('list', {}, items)] : undefined,
    );
  }

  wait(
    filter: MessageFilter & { status?: MessageStatus | undefined },
    timeoutMs: number,
  ): Promise<PhoneMessage | undefined> {
    return this.messages.wait(filter, timeoutMs);
  }

  /** Puts the first messages to a newly linked device in its queue: app-state key, history, names. */
  bootstrap(device: Device): Promise<void> {
    return this.serial.run(async () => {
      if (device.state.bootstrapped) return;
      this.shareName();
      const full = device.state.fullHistory;
      for (const content of bootstrapMessages(this, { full })) await this.sendPeer(device, content);
      device.state.bootstrapped = true;
      device.account.changed();
    });
  }

  /** The name that companions show; without it in the shared state they never get it and do not send presence. */
  private shareName(): void {
    const { account } = this;
    if (collectionOf(account.appState(), 'critical_block').version === 0) sharePushName(this, account.name);
  }

  /** A companion changed what the account's devices share. */
  sharedStateChanged(changes: OpenedChange[]): void {
    applyChanges(this, changes);
  }

  /** Sends something meant for one own device only. */
  async sendPeer(device: Device, content: proto.IMessage): Promise<void> {
    const enc = await this.sessions.encrypt({ account: this.account, device: device.id }, pad(encodeContent(content)));
    const attrs = {
      id: newMessageId(),
      from: this.account.phoneJid,
      type: 'text',
      category: 'peer',
      t: this.network.timestamp(),
    };
    device.deliver(node('message', attrs, [enc]));
  }

  /** A companion requests a file that is gone from the host. */
  uploadAgain(device: Device, stanza: Node): void {
    this.do(() => uploadAgain(this, device, stanza));
  }

  /** A companion is not linked any more. What it sent before is read first: the network has acknowledged that. */
  forgetDevice(device: number): void {
    this.do(() => {
      this.sessions.forget({ account: this.account, device });
      this.groupSessions.forgetDevice(`${this.account.lid}:${device}`);
    });
  }

  /** Something happened that is no message. */
  notify(event: PhoneEvent): void {
    this.events.add(event);
  }

  /** The chats as the phone lists them, the newest first. */
  chats(): ({ chat: string; name: string; unread: number; lastAt: number } & ChatSettings)[] {
    const names = new Set([...this.messages.chats(), ...Object.keys(this.shared.chats)]);
    for (const group of this.network.groups.ofMember(this.account.lid)) names.add(group.jid);
    const listed = [...names].flatMap((chat) => {
      const messages = this.messages.all({ chat });
      // A deleted chat comes back with its next message.
      if (messages.length === 0 && this.shared.chats[chat]?.deletedAtMs !== undefined) return [];
      const unread = messages.filter(isUnread).length;
      const name =
        this.shared.contacts[chat] ??
        this.network.groups.find(chat)?.state.subject.text ??
        this.network.accounts.find(chat)?.name ??
        chat;
      return { chat, name, unread, lastAt: messages.at(-1)?.timestamp ?? 0, ...this.shared.chats[chat] };
    });
    return listed.sort((a, b) => b.lastAt - a.lastAt);
  }

  /** Changes how the phone behaves by itself. */
  configure(settings: Partial<PhoneSettings>): PhoneSettings {
    Object.assign(this.settings, settings);
    this.account.changed();
    return this.settings;
  }

  /** Resolves when everything queued so far is done. */
  idle(): Promise<void> {
    return this.serial.idle();
  }

  private do(job: () => Promise<void> | void): void {
    this.serial.run(job).catch((error: unknown) => {
      this.network.log.error({ phone: this.account.phone, reason: String(error) }, 'a phone failed at a stanza');
    });
  }
}
