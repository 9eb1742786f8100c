import { EventEmitter } from 'node:events';
import { node } from '../wire/node.js';
import type { Device, DeviceConnection } from './account.js';
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
  private readonly loggedIn = new Map<DeviceConnection, { device: Device; sinceMs: number }>();
  private readonly events: ConnectionEvent[] = [];
  private overlapCount = 0;
  private readonly emitter = new EventEmitter().setMaxListeners(0);
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

  /** The socket on which a device is logged in. */
  of(device: Device): Connection | undefined {
    return [...this.sockets].find((socket) => socket === device.connection);
  }

  /**
   * Notes a login and returns the older socket of the same device, if there is one. The overlap is counted here, before the
   * caller closes the older one: that is the moment in which two owners held the device.
   */
  login(connection: Connection): DeviceConnection | undefined {
    const device = connection.device;
    if (!device) return undefined;
    const older = device.connection;
    if (older) {
      this.overlapCount++;
      this.note(device, 'replaced');
      this.loggedIn.delete(older);
    }
    device.connection = connection;
    device.state.seenAtMs = this.now();
    this.loggedIn.set(connection, { device, sinceMs: this.now() });
    this.note(device, 'open');
    return older;
  }

  closed(connection: Connection): void {
    this.sockets.delete(connection);
    const login = this.loggedIn.get(connection);
    if (!login) return;
    this.loggedIn.delete(connection);
    this.note(login.device, 'close');
    login.device.state.seenAtMs = this.now();
    if (login.device.connection === connection) login.device.connection = undefined;
  }

  /** Ends every socket, as of devices that were unlinked, and forgets what was recorded. */
  clear(): void {
    for (const socket of [...this.sockets]) {
      if (socket.device)
        socket.end(node('stream:error', { code: '401' }, [node('conflict', { type: 'device_removed' })]));
      else socket.cut();
    }
    this.events.length = 0;
    this.overlapCount = 0;
    this.openedCount = 0;
  }

  open(): { connection: number; phone: string; device: number; since: string }[] {
    return [...this.loggedIn].map(([connection, { device, sinceMs }]) => ({
      connection: connection.id,
      phone: device.account.phone,
      device: device.id,
      since: new Date(sinceMs).toISOString(),
    }));
  }

  /** Calls with every login, loss or replacement of a number's devices, until the returned function is called. */
  watch(phone: string, listener: () => void): () => void {
    this.emitter.on(phone, listener);
    return () => this.emitter.off(phone, listener);
  }

  private note(device: Device, event: ConnectionEvent['event']): void {
    this.events.push({
      phone: device.account.phone,
      device: device.id,
      at: new Date(this.now()).toISOString(),
      event,
    });
    if (this.events.length > LOG_LIMIT) this.events.splice(0, this.events.length - LOG_LIMIT);
    this.emitter.emit(device.account.phone);
  }
}
