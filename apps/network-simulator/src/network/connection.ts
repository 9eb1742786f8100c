import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { FrameReader, frame } from '../wire/frames.js';
import { decodeNode, encodeNode, node, type Node } from '../wire/node.js';
import { NoiseHandshake, type NoiseTransport } from '../wire/noise.js';
import type { KeyPair } from '../wire/keys.js';
import type { Account } from './account.js';
import type { Device } from './account.js';

/** What a connection reports to the network. `identified` comes once, after the handshake. */
export interface ConnectionListener {
  identified(connection: Connection, clientStatic: Buffer, payload: proto.IClientPayload): void;
  stanza(connection: Connection, stanza: Node): void;
  closed(connection: Connection): void;
}

/** How long a client has to read the last stanza, and to close, before the line does. Some drop what they have not handled by then. */
const LAST_STANZA_MS = 500;
/** From this many bytes on, what waits is written at once. */
const WRITE_AT_BYTES = 64 * 1024;

/** One WebSocket of a client: handshake, then stanzas in order in both directions. */
export class Connection {
  private static lastId = 0;
  readonly id = ++Connection.lastId;
  private readonly frames = new FrameReader();
  private readonly handshake: NoiseHandshake;
  private transport: NoiseTransport | undefined;
  private greeted = false;
  private ended = false;
  private lastIqId = 0;
  /** Encrypted frames of this turn of the event loop: they leave together, because each write costs more than its frame. */
  private outgoing: Buffer[] = [];
  private outgoingBytes = 0;
  /** The linked device that logged in here; absent during the handshake and while a code is shown. */
  device: Device | undefined;
  /** The device has requested its stanzas: from now on they are sent as they come. */
  active = false;
  available = false;
  /** No frame is sent or received: the peer sees a dead connection. */
  silent = false;
  /** How long the line takes for the next stanza, there and back. */
  lag: () => number = () => 0;
  /** Called with every stanza that passes, as it is in its frame, decrypted. */
  trace: (direction: 'in' | 'out', bytes: Uint8Array) => void = () => undefined;
  private receivedUntil = 0;
  clientStatic: Buffer = Buffer.alloc(0);
  payload: proto.IClientPayload = {};

  constructor(
    private readonly socket: WebSocket,
    noise: KeyPair,
    certificates: Uint8Array,
    private readonly listener: ConnectionListener,
    private readonly log: Logger,
  ) {
    this.handshake = new NoiseHandshake(noise, certificates);
    socket.on('message', (data) => this.receive(data));
    socket.on('close', () => this.finish());
    socket.on('error', (error) => this.log.debug({ connection: this.id, reason: error.message }, 'socket error'));
  }

  get account(): Account | undefined {
    return this.device?.account;
  }

  get edgeRouting(): Buffer | undefined {
    return this.frames.edgeRouting;
  }

  get open(): boolean {
    return !this.ended;
  }

  /** Sends a stanza; quietly nothing when the line is closed or silent (what must arrive waits in the device's queue). */
  send(stanza: Node): void {
    if (this.ended || this.silent || !this.transport) return;
    const bytes = encodeNode(stanza);
    this.trace('out', bytes);
    const framed = frame(this.transport.encrypt(bytes));
    if (this.outgoing.push(framed) === 1) setImmediate(() => this.write());
    this.outgoingBytes += framed.length;
    if (this.outgoingBytes >= WRITE_AT_BYTES) this.write();
  }

  /** Sends the client a query; answers come back as stanzas of type `result` with the id that is returned. */
  sendQuery(attrs: Record<string, string>, content: Node[]): string {
    const id = `srv-${this.id}-${++this.lastIqId}`;
    this.send(node('iq', { from: '@s.whatsapp.net', id, ...attrs }, content));
    return id;
  }

  /** Sends a last stanza, if any, and closes; with a last stanza, the client may close first. For the network the line is gone at once. */
  end(last?: Node): void {
    if (this.ended) return;
    if (last) this.send(last);
    this.write();
    const close = (): void => {
      this.socket.close(1000);
      setTimeout(() => this.socket.terminate(), 2000).unref();
    };
    if (last) setTimeout(close, LAST_STANZA_MS).unref();
    else close();
    this.finish();
  }

  /** Cuts the connection without a stanza, as a lost network does. */
  cut(): void {
    this.socket.terminate();
    this.finish();
  }

  /** Passes a stanza on, in order: at once, or after the delay of the line. */
  private receiveStanza(stanza: Node): void {
    const ms = this.lag();
    const now = Date.now();
    const at = Math.max(now + ms, this.receivedUntil);
    if (at <= now) {
      this.listener.stanza(this, stanza);
      return;
    }
    this.receivedUntil = at;
    setTimeout(() => {
      if (!this.ended) this.listener.stanza(this, stanza);
    }, at - now);
  }

  /** Writes all frames that wait; even to a line that fell silent meanwhile, because the ciphers count frames. */
  private write(): void {
    const [first, ...others] = this.outgoing;
    if (!first || this.ended) return;
    this.outgoing = [];
    this.outgoingBytes = 0;
    this.socket.send(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  private finish(): void {
    if (this.ended) return;
    this.ended = true;
    this.listener.closed(this);
  }

  private receive(data: RawData): void {
    if (this.ended) return;
    const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
    try {
      for (const payload of this.frames.push(bytes)) this.handleFrame(payload);
    } catch (error) {
      this.log.warn({ connection: this.id, reason: String(error) }, 'unreadable stream: closing');
      this.cut();
    }
  }

  private handleFrame(payload: Buffer): void {
    if (this.transport) {
      const bytes = this.transport.decrypt(payload);
      if (this.silent || this.ended) return;
      this.trace('in', bytes);
      this.receiveStanza(decodeNode(bytes));
      return;
    }
    if (!this.greeted) {
      this.greeted = true;
      this.socket.send(frame(this.handshake.serverHello(payload)));
      return;
    }
    const { clientStatic, payload: login, transport } = this.handshake.clientFinish(payload);
    this.clientStatic = clientStatic;
    this.payload = login;
    // The client switches to its transport keys only after its last handshake write has completed.
    setImmediate(() => {
      this.transport = transport;
      if (!this.ended) this.listener.identified(this, clientStatic, login);
    });
  }
}
