import { EventEmitter } from 'node:events';
import type { Connection } from './connection.js';

export interface ConnectionEvent {
  phone: string;
  device: number;
  at: string;
  event: 'open' | 'close' | 'replaced';
}

const LOG_LIMIT = 20_000;

/** All sockets, and a truthful record of who was logged in when. */
export class Connections {
  private readonly sockets = new Set<Connection>();
  private readonly loggedIn = new Map<Connection, number>();
  private readonly events: ConnectionEvent[] = [];
  private overlapCount = 0;
  private readonly news = new EventEmitter().setMaxListeners(0);
  private openedCount = 0;

  constructor(private readonly now: () => number) {}

  /** How many times a device logged in while an older socket of the same device was still logged in. */
  get overlaps(): number {
    return this.overlapCount;
  }

  /** How many sockets were ever opened, logged in or not: pairings, too. */
  get opened(): number {
    return this.openedCount;
  }

  get log(): readonly ConnectionEvent[] {
    return this.events;
  }

  add(connection: Connection): void {
    this.openedCount++;
    this.sockets.add(connection);
  }

  all(): Iterable<Connection> {
    return this.sockets;
  }

  /**
   * Notes a login and returns the older socket of the same device, if there is one. The overlap is counted here, before the
   * caller closes the older one: that is the moment in which two owners held the device.
   */
  login(connection: Connection): Connection | undefined {
    const device = connection.device;
    if (!device) return undefined;
    const older = device.connection;
    if (older) {
      this.overlapCount++;
      this.note(older, 'replaced');
      this.loggedIn.delete(older);
    }
    device.connection = connection;
    this.loggedIn.set(connection, this.now());
    this.note(connection, 'open');
    return older;
  }

  closed(connection: Connection): void {
    this.sockets.delete(connection);
    if (!this.loggedIn.delete(connection)) return;
    this.note(connection, 'close');
    if (connection.device?.connection === connection) connection.device.connection = undefined;
  }

  open(): { phone: string; device: number; since: string }[] {
    return [...this.loggedIn].map(([connection, since]) => ({
      phone: connection.account?.phone ?? '',
      device: connection.device?.id ?? 0,
      since: new Date(since).toISOString(),
    }));
  }

  /** Calls with every login, loss or replacement of a number's devices, until the returned function is called. */
  watch(phone: string, listener: () => void): () => void {
    this.news.on(phone, listener);
    return () => this.news.off(phone, listener);
  }

  private note(connection: Connection, event: ConnectionEvent['event']): void {
    this.events.push({
      phone: connection.account?.phone ?? '',
      device: connection.device?.id ?? 0,
      at: new Date(this.now()).toISOString(),
      event,
    });
    if (this.events.length > LOG_LIMIT) this.events.splice(0, this.events.length - LOG_LIMIT);
    this.news.emit(connection.account?.phone ?? '');
  }
}
