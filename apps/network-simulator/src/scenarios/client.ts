import {
  BufferJSON,
  generateMessageIDV2,
  initAuthCreds,
  makeWASocket,
  proto,
  WA_CERT_DETAILS,
  type AuthenticationState,
  type BaileysEventMap,
  type SignalDataSet,
  type SignalDataTypeMap,
  type UserFacingSocketConfig,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import { pino } from 'pino';
import type { Simulator } from '../simulator.js';

/** Generous: a machine that is short of time takes long over the hundreds of keys of a first login. */
const DEADLINE_MS = 60_000;

/** A real client of the network for specs: Baileys with its keys in memory, which survive its sockets. */
export class Client {
  readonly auth: AuthenticationState;
  private readonly stored = new Map<string, string>();
  /** Every message event so far, in order. */
  readonly messages: { type: string; message: WAMessage }[] = [];
  readonly updates: BaileysEventMap['messages.update'] = [];
  readonly events: { [K in keyof BaileysEventMap]?: BaileysEventMap[K][] } = {};
  private listeners = new Set<() => void>();
  socket!: WASocket;
  online = false;
  /** What `getMessage` finds: own sends by id. */
  readonly sent = new Map<string, proto.IMessage>();

  constructor(
    private readonly simulator: Pick<Simulator, 'socketUrl' | 'rootKey'>,
    private readonly config: Partial<UserFacingSocketConfig> = {},
  ) {
    WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(simulator.rootKey, 'base64');
    this.auth = { creds: initAuthCreds(), keys: { get: this.getKeys, set: this.setKeys } };
  }

  get jid(): string {
    return this.auth.creds.me?.id ?? '';
  }

  /** Opens a socket without waiting for anything. */
  start(): WASocket {
    this.socket = makeWASocket({
      auth: this.auth,
      waWebSocketUrl: this.simulator.socketUrl,
      logger: pino({ level: 'silent' }),
      getMessage: (key) => Promise.resolve(this.sent.get(key.id ?? '')),
      shouldSyncHistoryMessage: () => true,
      ...this.config,
    });
    const { socket } = this;
    // The library drops what it has buffered when the line is cut, unless it is flushed at that very moment.
    socket.ev.on('connection.update', ({ connection }) => {
      if (connection === 'close') socket.ev.flush();
      if (connection !== undefined && socket === this.socket) this.online = connection === 'open';
    });
    socket.ev.process((events) => {
      for (const name of Object.keys(events) as (keyof BaileysEventMap)[]) {
        // The end of an older socket, which may come late, does not concern this one: code that took it for the end of
        // this one would open another beside it, and so on.
        if (name !== 'connection.update' || socket === this.socket) this.note(name, events[name]);
      }
      for (const { type, messages } of events['messages.upsert'] ? [events['messages.upsert']] : []) {
        for (const message of messages) this.messages.push({ type, message });
      }
      this.updates.push(...(events['messages.update'] ?? []));
      if (events['creds.update']) Object.assign(this.auth.creds, events['creds.update']);
      for (const listener of this.listeners) listener();
    });
    return socket;
  }

  /** Connects a linked client and waits until it is open. */
  async connect(): Promise<WASocket> {
    const from = this.eventsOf('connection.update').length;
    const socket = this.start();
    await this.until(() => {
      const updates = this.eventsOf('connection.update').slice(from);
      const close = updates.find(({ connection }) => connection === 'close');
      if (close) throw close.lastDisconnect?.error ?? new Error('closed');
      return updates.some(({ connection }) => connection === 'open');
    }, 'connection open');
    return socket;
  }

  /** Connects again after the line was lost, however often it takes. */
  async reconnect(): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const open = await this.connect().then(
        () => true,
        () => false,
      );
      if (open) return;
    }
    throw new Error('The client cannot connect again.');
  }

  /** An id for a message that is about to be sent. */
  newId(): string {
    return generateMessageIDV2(this.jid);
  }

  /** The attributes of the acknowledgement of a message; `undefined` when none comes in time. */
  acknowledged(id: string, withinMs = 3000): Promise<Record<string, string> | undefined> {
    const { ws } = this.socket;
    return new Promise((resolve) => {
      const done = (attrs?: Record<string, string>): void => {
        clearTimeout(timer);
        ws.off(`TAG:${id}`, listen);
        resolve(attrs);
      };
      const listen = (ack: { attrs: Record<string, string> }): void => done(ack.attrs);
      const timer = setTimeout(done, withinMs);
      ws.on(`TAG:${id}`, listen);
    });
  }

  /** The texts of all messages so far. */
  texts(): Set<string> {
    return new Set(this.messages.map(({ message }) => textOf(message)).filter((text) => text !== undefined));
  }

  /** Ids of messages that were shown more than once with their content. */
  doubled(): string[] {
    const seen = new Map<string, number>();
    for (const { message } of this.messages) {
      const id = message.key.id ?? '';
      if (!message.key.fromMe && message.message) seen.set(id, (seen.get(id) ?? 0) + 1);
    }
    return [...seen].filter(([, count]) => count > 1).map(([id]) => id);
  }

  /** The next linking code that a socket shows. */
  async code(): Promise<string> {
    const from = this.eventsOf('connection.update').length;
    this.start();
    return this.until(
      () =>
        this.eventsOf('connection.update')
          .slice(from)
          .find(({ qr }) => qr)?.qr,
      'a code',
    );
  }

  /** Links to a phone through the given scan, then logs in for the first time. */
  async link(scan: (qr: string) => Promise<unknown>): Promise<WASocket> {
    const code = await this.code();
    const closed = this.closed();
    await scan(code);
    await closed;
    return this.connect();
  }

  /** The status code with which the present socket closes. */
  closed(): Promise<number> {
    const from = this.eventsOf('connection.update').length;
    return this.until(() => {
      const update = this.eventsOf('connection.update')
        .slice(from)
        .find(({ connection }) => connection === 'close');
      if (!update) return undefined;
      const error = update.lastDisconnect?.error as { output?: { statusCode?: number } } | undefined;
      return error?.output?.statusCode ?? -1;
    }, 'the socket to close');
  }

  /** Sends, and stores the message for `getMessage`. */
  async send(...args: Parameters<WASocket['sendMessage']>): Promise<WAMessage> {
    const message = await this.socket.sendMessage(...args);
    if (!message) throw new Error('nothing was sent');
    if (message.key.id && message.message) this.sent.set(message.key.id, message.message);
    return message;
  }

  /** Sends content that the library cannot put together itself, and stores it for `getMessage`. */
  async relay(chat: string, content: proto.IMessage, messageId: string): Promise<void> {
    this.sent.set(messageId, content);
    await this.socket.relayMessage(chat, content, { messageId });
  }

  /** The first received message that fits, now or soon. */
  message(fits: (message: WAMessage, type: string) => boolean, what = 'a message'): Promise<WAMessage> {
    return this.until(() => this.messages.find(({ message, type }) => fits(message, type))?.message, what);
  }

  text(text: string): Promise<WAMessage> {
    return this.message((message) => textOf(message) === text, text);
  }

  /**
   * Waits until the message's status has reached at least this. An update that comes while the message's own event is still
   * buffered is merged into that event.
   */
  async status(id: string, status: number): Promise<void> {
    await this.until(
      () =>
        this.updates.some(({ key, update }) => key.id === id && Number(update.status ?? 0) >= status) ||
        this.messages.some(({ message }) => message.key.id === id && Number(message.status ?? 0) >= status),
      `status ${status} of ${id}`,
    );
  }

  eventsOf<K extends keyof BaileysEventMap>(name: K): BaileysEventMap[K][] {
    return this.events[name] ?? [];
  }

  /** Resolves with the first truthy value of `find`, called again after every event. */
  until<T>(find: () => T | undefined | false, what: string, deadlineMs = DEADLINE_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.listeners.delete(look);
      };
      const look = (): void => {
        try {
          const found = find();
          if (found === undefined || found === false) return;
          finish();
          resolve(found);
        } catch (error) {
          finish();
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`Waited in vain for ${what}.`));
      }, deadlineMs);
      this.listeners.add(look);
      look();
    });
  }

  /** Ends the socket without losing what it has received. */
  async end(): Promise<void> {
    const { socket, online } = this;
    this.online = false;
    // On a line that is gone a message may wait a minute for an answer: what was received is flushed by then.
    if (online) await socket.messageMutex.mutex(() => Promise.resolve());
    socket.ev.flush();
    await socket.end(undefined);
  }

  private note<K extends keyof BaileysEventMap>(name: K, event: unknown): void {
    const events: BaileysEventMap[K][] = this.events[name] ?? [];
    events.push(event as BaileysEventMap[K]);
    Object.assign(this.events, { [name]: events });
  }

  private readonly getKeys = <T extends keyof SignalDataTypeMap>(
    type: T,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[T] }> => {
    const found: { [id: string]: SignalDataTypeMap[T] } = {};
    for (const id of ids) {
      const text = this.stored.get(`${type}|${id}`);
      if (text !== undefined) found[id] = revive(type, text) as SignalDataTypeMap[T];
    }
    return Promise.resolve(found);
  };

  private readonly setKeys = (data: SignalDataSet): Promise<void> => {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        if (value === null || value === undefined) this.stored.delete(`${type}|${id}`);
        else this.stored.set(`${type}|${id}`, JSON.stringify(value, BufferJSON.replacer));
      }
    }
    return Promise.resolve();
  };
}

function textOf({ message }: WAMessage): string | undefined {
  return message?.conversation ?? message?.extendedTextMessage?.text ?? undefined;
}

function revive(type: string, text: string): unknown {
  const value: unknown = JSON.parse(text, BufferJSON.reviver);
  return type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value as object) : value;
}
