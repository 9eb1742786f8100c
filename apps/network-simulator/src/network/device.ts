import type { Node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Connection } from './connection.js';
import { PreKeyStock } from './pre-keys.js';
import { StanzaQueue, type QueuedState } from './stanza-queue.js';

export interface SignedPreKeyPublic {
  id: number;
  value: Buffer;
  signature: Buffer;
}

/** What is kept of a linked device. */
export interface DeviceState {
  id: number;
  keyIndex: number;
  linkedAtMs: number;
  noise: Buffer;
  identity: Buffer;
  registrationId: number;
  signedPreKey: SignedPreKeyPublic;
  platform: string;
  /** The client asked for all of the phone's history, not only for the recent part. */
  fullHistory: boolean;
  preKeysTaken: number;
  bootstrapped: boolean;
  queue: QueuedState[];
}

/** A companion device linked to an account: its public keys, its one-time keys, and what waits for it. */
export class Device {
  readonly preKeys: PreKeyStock;
  readonly queue: StanzaQueue;
  /** The socket on which this device is logged in now. */
  connection: Connection | undefined;

  constructor(
    readonly account: Account,
    readonly state: DeviceState,
    preKeys?: Buffer,
  ) {
    this.preKeys = new PreKeyStock(preKeys, state.preKeysTaken);
    this.queue = new StanzaQueue(state.queue);
  }

  get id(): number {
    return this.state.id;
  }

  /** The name under which caches and Signal sessions know this device. */
  get key(): string {
    return `${this.account.lid}:${this.id}`;
  }

  get online(): boolean {
    return this.connection !== undefined;
  }

  /** Queues a stanza until the device confirms it, and sends it now if the device listens. */
  deliver(stanza: Node): void {
    this.queue.push(stanza);
    this.account.changed();
    if (this.connection?.active) this.connection.send(stanza);
  }

  /** Sends what only matters now (presence, typing): nothing waits for an absent device. */
  tell(stanza: Node): void {
    if (this.connection?.active) this.connection.send(stanza);
  }

  snapshot(): DeviceState {
    return { ...this.state, preKeysTaken: this.preKeys.taken, queue: this.queue.snapshot() };
  }
}
