import { EventEmitter } from 'node:events';
import type { Store } from '../store/store.js';
import { CompactCopies } from '../wire/compact-copies.js';
import { ADDITIONS } from './content.js';
import type { KeptMessages } from './kept-messages.js';

export type MessageStatus = 'error' | 'pending' | 'sent' | 'delivered' | 'read' | 'played';

const ORDER: MessageStatus[] = ['error', 'pending', 'sent', 'delivered', 'read', 'played'];

/** A message as a phone has it, decrypted. */
export interface PhoneMessage {
  id: string;
  /** The chat: a person's number address, or a group's. */
  chat: string;
  /** Who wrote it, as a number address. */
  from: string;
  fromMe: boolean;
  type: string;
  text: string;
  /** Seconds since 1970. */
  timestamp: number;
  /** Place in the order in which this phone got its messages. */
  receivedSeq: number;
  /** How many times the network brought this id to the phone; 0 for its own sends. */
  deliveries: number;
  /** Of own messages how far they got; of others' whether they are read here. */
  status: MessageStatus;
  /** The decrypted protocol buffer. */
  content: Buffer;
  /** The chat's address as it was written on the wire: receipts must use the same naming. */
  wireChat: string;
  /** The author's address on the wire in a group. */
  wireAuthor?: string;
  pushName?: string;
  /** Emoji by who reacted. */
  reactions?: Record<string, string>;
  /** Chosen options of a poll by who voted. */
  votes?: Record<string, string[]>;
  /** Answers to an event by who answered: `going`, `not-going` or `maybe`. */
  answers?: Record<string, string>;
  edited?: boolean;
  deleted?: boolean;
  /** Gone from this account only: deleted for oneself, or with its chat. Copies are still sent again from it. */
  erased?: boolean;
  /** The stanza's `edit` attribute, to send it again alike. */
  edit?: string;
}

/** What to look for; a message must fit all that is given. */
export interface MessageFilter {
  id?: string | undefined;
  text?: string | undefined;
  chat?: string | undefined;
  type?: string | undefined;
  fromMe?: boolean | undefined;
}

/** Kinds that change another message, or the chat: nobody counts them as unread. */
const UNCOUNTED = new Set(ADDITIONS);

/** Whether a message makes its chat unread. */
export function isUnread({ fromMe, status, type }: PhoneMessage): boolean {
  return !fromMe && status === 'delivered' && !UNCOUNTED.has(type);
}

type LogRecord = { add: PhoneMessage } | { set: Partial<PhoneMessage> & { id: string } };

export function fits(message: PhoneMessage, filter: MessageFilter): boolean {
  return (
    !message.erased &&
    (filter.id === undefined || message.id === filter.id) &&
    (filter.text === undefined || message.text === filter.text) &&
    (filter.chat === undefined || message.chat === filter.chat) &&
    (filter.type === undefined || message.type === filter.type) &&
    (filter.fromMe === undefined || message.fromMe === filter.fromMe)
  );
}

interface MessageLogOptions {
  /** Bounds what is held. */
  kept: Pick<KeptMessages, 'arrived'>;
  /** Called with every chat when its first message comes, or is read from the disk. */
  chatBegan?: (chat: string) => void;
}

/** Of the contents of all phones, which are dropped in the order in which they came. */
const copies = new CompactCopies();

/** The messages of one phone in the order in which they came, stored as a log: additions and later changes. */
export class MessageLog {
  private messages: PhoneMessage[] = [];
  /** Messages before this place were dropped; the list is cut when half of it is such. */
  private first = 0;
  private readonly byId = new Map<string, PhoneMessage>();
  private readonly chatNames = new Set<string>();
  private readonly events = new EventEmitter().setMaxListeners(0);
  private lastSeq = 0;

  constructor(
    private readonly store: Store,
    private readonly file: string,
    private readonly options: MessageLogOptions,
  ) {}

  async load(): Promise<void> {
    for (const record of (await this.store.lines(this.file)) as LogRecord[]) {
      if ('add' in record) this.insertBounded(record.add);
      else Object.assign(this.byId.get(record.set.id) ?? {}, record.set);
    }
  }

  get(id: string): PhoneMessage | undefined {
    return this.byId.get(id);
  }

  /** All chats that have messages. */
  chats(): string[] {
    return [...this.chatNames];
  }

  all(filter: MessageFilter = {}): PhoneMessage[] {
    return this.messages.slice(this.first).filter((message) => fits(message, filter));
  }

  /** How many messages are held. */
  get size(): number {
    return this.messages.length - this.first;
  }

  add(message: Omit<PhoneMessage, 'receivedSeq'>): PhoneMessage {
    const added = this.numbered(message);
    this.insertBounded(added);
    this.append(added);
    return added;
  }

  /** Adds a message of a past that was made up: none goes for it. */
  addPast(message: Omit<PhoneMessage, 'receivedSeq'>): void {
    const added = this.numbered(message);
    this.insert(added);
    this.append(added);
  }

  /** Forgets the message that came first. */
  dropOldest(): void {
    const oldest = this.messages[this.first];
    if (!oldest) return;
    this.byId.delete(oldest.id);
    this.first++;
    if (this.first * 2 <= this.messages.length) return;
    this.messages = this.messages.slice(this.first);
    this.first = 0;
  }

  change(message: PhoneMessage, change: Partial<PhoneMessage>): void {
    Object.assign(message, change, change.content && { content: copies.of(change.content) });
    this.store.append(this.file, { set: { ...change, id: message.id } } satisfies LogRecord);
    this.events.emit('change', message);
  }

  /** Takes a message, or a chat's messages up to a time, from this phone's sight. `except` are ids that stay. */
  erase(which: { chat: string; id?: string; untilSeconds?: number; except?: readonly string[] }): void {
    const { chat, id, untilSeconds = Infinity, except = [] } = which;
    for (const message of this.all({ chat, id })) {
      if (message.timestamp <= untilSeconds && !except.includes(message.id)) this.change(message, { erased: true });
    }
  }

  /** Moves a message's status on, never back; an error ends it. */
  advance(message: PhoneMessage, status: MessageStatus): void {
    if (ORDER.indexOf(status) > ORDER.indexOf(message.status) || status === 'error') this.change(message, { status });
  }

  /** Called with every new and every changed message, until the returned function is called. */
  watch(listener: (message: PhoneMessage) => void): () => void {
    this.events.on('message', listener);
    this.events.on('change', listener);
    return () => {
      this.events.off('message', listener);
      this.events.off('change', listener);
    };
  }

  /** The first message that fits, now or within the time; `undefined` at the deadline. */
  async wait(
    filter: MessageFilter & { status?: MessageStatus | undefined },
    timeoutMs: number,
  ): Promise<PhoneMessage | undefined> {
    const ready = (message: PhoneMessage): boolean =>
      fits(message, filter) &&
      (filter.status === undefined || ORDER.indexOf(message.status) >= ORDER.indexOf(filter.status));
    const present = this.messages.slice(this.first).find(ready);
    if (present) return present;
    return new Promise((resolve) => {
      const stop = this.watch((message) => {
        if (ready(message)) done(message);
      });
      const timer = setTimeout(() => done(undefined), timeoutMs);
      const done = (message: PhoneMessage | undefined): void => {
        clearTimeout(timer);
        stop();
        resolve(message);
      };
    });
  }

  private numbered(message: Omit<PhoneMessage, 'receivedSeq'>): PhoneMessage {
    return { ...message, content: copies.of(message.content), receivedSeq: this.lastSeq + 1 };
  }

  private append(added: PhoneMessage): void {
    this.store.append(this.file, { add: added } satisfies LogRecord);
    this.events.emit('message', added);
  }

  private insertBounded(message: PhoneMessage): void {
    this.insert(message);
    this.options.kept.arrived(this);
  }

  private insert(message: PhoneMessage): void {
    this.messages.push(message);
    this.byId.set(message.id, message);
    if (!this.chatNames.has(message.chat)) {
      this.chatNames.add(message.chat);
      this.options.chatBegan?.(message.chat);
    }
    this.lastSeq = Math.max(this.lastSeq, message.receivedSeq);
  }
}
