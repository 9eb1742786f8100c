/**
 * A TCP proxy with faults, for specs and journeys: everything between a client and a server passes through a port of its
 * own, which can cut, refuse, hold, silence, lose, break or slow down what passes.
 */
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SlowWay, type SlowWayTerms } from './test-slow-way.js';

/** Ends a connection at once. Node leaves the handle of one open for ever that is reset while its end is on the way. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

type Way = (bytes: number, arrive: () => void) => void;
const AT_ONCE: Way = (_bytes, arrive) => arrive();

/** Sees, and may change, what passes on one connection. */
export interface ConnectionFilter {
  /** From client to server. */
  request?(bytes: Buffer): Buffer;
  /** From server to client. */
  answer?(bytes: Buffer): Buffer;
}

interface Connection {
  near: Socket;
  far: Socket;
  filter: ConnectionFilter;
  /** Bytes carried, there and back, since the last `breakAfter`. */
  carried: number;
  silent: boolean;
  losesAnswers: boolean;
}

export class FaultProxy {
  private mode: 'open' | 'refusing' | 'held' = 'open';
  private answers: 'passed' | 'held' | 'lost' = 'passed';
  private breaksAfter: number | undefined;
  private slowness: SlowWayTerms | undefined;
  private readonly connections = new Set<Connection>();
  private readonly heldAnswers: (() => void)[] = [];
  private readonly events = new EventEmitter();
  private readonly server: Server;
  private port = 0;

  private constructor(
    private readonly target: URL,
    private readonly newFilter: () => ConnectionFilter,
  ) {
    this.server = createServer({ allowHalfOpen: true }, (near) => this.join(near));
  }

  /**
   * @param target address of the server, with a port
   * @param newFilter called for each connection
   */
  static async to(target: string, newFilter: () => ConnectionFilter = () => ({})): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(target), newFilter);
    await proxy.listen();
    return proxy;
  }

  /** The server's address through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Ends every connection; new ones pass. */
  cut(): void {
    for (const { near, far } of this.connections) {
      reset(near);
      far.destroy();
    }
  }

  /** Ends every connection and, until {@link restore}, each new one as soon as it is made. */
  refuse(): void {
    this.mode = 'refusing';
    this.cut();
  }

  /** Until {@link restore} nothing passes and neither side notices: connections stay, new ones are accepted and silent too. */
  hold(): void {
    this.mode = 'held';
    for (const connection of this.connections) pause(connection);
  }

  /** What is connected now falls silent for good, in both directions; later connections pass. */
  silence(): void {
    for (const connection of this.connections) {
      connection.silent = true;
      pause(connection);
    }
  }

  /** Requests still reach the server, its answers are lost: on the connections that are open now, or until {@link restore}. */
  loseAnswers(on: 'open connections' | 'all'): void {
    if (on === 'all') this.answers = 'lost';
    else for (const connection of this.connections) connection.losesAnswers = true;
  }

  /** Holds answers until {@link restore}. Resolves with the first: the server has done what was requested. */
  async holdAnswers(): Promise<void> {
    this.answers = 'held';
    await once(this.events, 'held');
  }

  /** From now on each connection is cut once it has carried this many more bytes, there or back; undefined: none is. */
  breakAfter(bytes: number | undefined): void {
    this.breaksAfter = bytes;
    for (const connection of this.connections) connection.carried = 0;
  }

  /** Later connections are slow in both directions, until this is called with undefined. */
  slowDown(terms: SlowWayTerms | undefined): void {
    this.slowness = terms;
  }

  /** Ends what `refuse`, `hold`, `loseAnswers('all')` and `holdAnswers` began: what was held passes, in order. */
  restore(): void {
    this.mode = 'open';
    this.answers = 'passed';
    for (const pass of this.heldAnswers.splice(0)) pass();
    for (const connection of this.connections) this.resume(connection);
  }

  /** Ends every connection; the port is closed, so that new ones are refused by the system. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }

  /** After {@link close}: listens again, on the port of before, without a fault. */
  async reopen(): Promise<void> {
    this.restore();
    await this.listen();
  }

  private async listen(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  private join(near: Socket): void {
    near.on('error', () => undefined);
    if (this.mode === 'refusing') return void reset(near);
    const far = connect({ host: this.target.hostname, port: Number(this.target.port), allowHalfOpen: true });
    far.on('error', () => undefined);
    const filter = this.newFilter();
    const connection: Connection = { near, far, filter, carried: 0, silent: false, losesAnswers: false };
    this.connections.add(connection);
    const [there, back] = this.ways(near, far);
    near.on('data', (bytes: Buffer) => {
      there(bytes.length, () => this.carry(connection, near, far, filter.request?.(bytes) ?? bytes));
    });
    far.on('data', (bytes: Buffer) => {
      if (connection.losesAnswers || this.answers === 'lost') return;
      const answer = filter.answer?.(bytes) ?? bytes;
      if (this.answers === 'passed') {
        return back(bytes.length, () => this.carry(connection, far, near, answer));
      }
      this.heldAnswers.push(() => this.carry(connection, far, near, answer));
      this.events.emit('held');
    });
    for (const [from, to, way] of [
      [near, far, there],
      [far, near, back],
    ] as const) {
      from.setNoDelay();
      from.once('end', () => way(0, () => to.end()));
      from.once('close', () => {
        this.connections.delete(connection);
        way(0, () => to.destroy());
      });
    }
    if (this.mode === 'held') pause(connection);
  }

  /** The two directions of a connection: each calls what is given once that many bytes have arrived, at once unless it is slow. */
  private ways(near: Socket, far: Socket): [there: Way, back: Way] {
    const terms = this.slowness;
    if (!terms) return [AT_ONCE, AT_ONCE];
    const slow = (from: Socket): Way => {
      const way = new SlowWay(terms);
      return (bytes, arrive) => way.carry(bytes, from, arrive);
    };
    return [slow(near), slow(far)];
  }

  private carry(connection: Connection, from: Socket, to: Socket, bytes: Buffer): void {
    connection.carried += bytes.length;
    if (this.breaksAfter !== undefined && connection.carried > this.breaksAfter) {
      const allowed = Math.max(0, bytes.length - (connection.carried - this.breaksAfter));
      to.write(bytes.subarray(0, allowed), () => {
        reset(connection.near);
        connection.far.destroy();
      });
      return;
    }
    // What the other side is slow to accept is not read either.
    if (to.write(bytes)) return;
    from.pause();
    to.once('drain', () => this.resume(connection, from));
  }

  private resume(connection: Connection, ...sockets: Socket[]): void {
    if (this.mode === 'held' || connection.silent) return;
    for (const socket of sockets.length > 0 ? sockets : [connection.near, connection.far]) socket.resume();
  }
}

function pause({ near, far }: Connection): void {
  near.pause();
  far.pause();
}
