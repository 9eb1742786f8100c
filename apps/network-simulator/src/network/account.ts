import { randomBytes, randomInt } from 'node:crypto';
import { formatJid, LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { newKeyPair, sign, withType, type KeyPair } from '../wire/keys.js';
import type { Node } from '../wire/node.js';
import { newAppState, type AppState } from '../shared-state/collection.js';
import type { Picture } from './picture.js';
import { PreKeyStock } from './pre-keys.js';
import { StanzaQueue, type QueuedState } from './stanza-queue.js';

/** The Signal keys of a phone. */
export interface PhoneKeys {
  registrationId: number;
  identity: KeyPair;
  signedPreKey: { id: number; pair: KeyPair; signature: Buffer };
}

/** What is stored of a person on the network. */
export interface AccountState {
  phone: string;
  lid: string;
  name: string;
  keys?: PhoneKeys;
  /** Identifies the account in device certificates. */
  advRawId: number;
  nextDeviceId: number;
  nextKeyIndex: number;
  about: { text: string; setAtMs: number };
  privacy: Record<string, string>;
  blocked: string[];
  disappearingSeconds: number;
  appState?: AppState;
  picture?: Picture;
  /** When somebody last did something at the phone. */
  phoneUsedAtMs?: number;
}

export const MAX_COMPANIONS = 4;

/** How long clients cache a list of devices; those who requested it within this time are notified of changes. */
const DEVICE_LIST_TRUST_MS = 10 * 60_000;

/** A person on the network: a number, its private id, its phone's keys (made when first needed) and linked devices. */
export class Account {
  readonly devices = new Map<number, Device>();
  private readonly deviceListSubscribers = new Map<string, { device: Device; untilMs: number }>();

  constructor(
    readonly state: AccountState,
    /** Called after every change that should outlive the process. */
    readonly changed: () => void,
  ) {}

  static fresh(phone: string, lid: string, name: string, changed: () => void): Account {
    return new Account(
      {
        phone,
        lid,
        name,
        advRawId: randomInt(1, 0x7fffffff),
        nextDeviceId: 1,
        nextKeyIndex: 1,
        about: { text: 'Hey there! I am using WhatsApp.', setAtMs: 0 },
        privacy: {},
        blocked: [],
        disappearingSeconds: 0,
      },
      changed,
    );
  }

  get phone(): string {
    return this.state.phone;
  }

  get lid(): string {
    return this.state.lid;
  }

  get name(): string {
    return this.state.name;
  }

  get phoneJid(): string {
    return formatJid({ user: this.phone, device: 0, server: PHONE_SERVER });
  }

  get lidJid(): string {
    return formatJid({ user: this.lid, device: 0, server: LID_SERVER });
  }

  /** This account's address in the same naming (number or private id) as another address. */
  jidLike(server: string, device = 0): string {
    return server === LID_SERVER
      ? formatJid({ user: this.lid, device, server: LID_SERVER })
      : formatJid({ user: this.phone, device, server: PHONE_SERVER });
  }

  /**
   * The address in the other naming than `server`, as it goes beside the one in use. Who keeps the number private (the
   * privacy setting `number` is `none`) is known by private id alone, until a message is sent under the number.
   */
  otherName(server: string): string | undefined {
    if (server !== LID_SERVER) return this.jidLike(LID_SERVER);
    return this.state.privacy['number'] === 'none' ? undefined : this.jidLike(PHONE_SERVER);
  }

  /** The phone's keys. One signature, made at the first use: thousands of phones are made that never talk. */
  keys(): PhoneKeys {
    if (!this.state.keys) {
      const identity = newKeyPair();
      const pair = newKeyPair();
      this.state.keys = {
        registrationId: randomBytes(2).readUInt16BE() & 0x3fff,
        identity,
        signedPreKey: { id: 1, pair, signature: sign(identity.private, withType(pair.public)) },
      };
      this.changed();
    }
    return this.state.keys;
  }

  /** What the account's devices share (made when the first device is linked). */
  appState(): AppState {
    if (!this.state.appState) {
      this.state.appState = newAppState(Date.now());
      this.changed();
    }
    return this.state.appState;
  }

  /** When somebody last did something at the phone: linking a device counts, too. */
  get phoneUsedAtMs(): number {
    const linked = [...this.devices.values()].map(({ state }) => state.linkedAtMs);
    return Math.max(this.state.phoneUsedAtMs ?? 0, ...linked);
  }

  addDevice(state: DeviceState, preKeys?: Buffer): Device {
    const device = new Device(this, state, preKeys);
    this.devices.set(device.id, device);
    return device;
  }

  /** Notes that this device now caches the list of our devices. */
  subscribeToDeviceList(device: Device, nowMs: number): void {
    this.deviceListSubscribers.set(device.key, { device, untilMs: nowMs + DEVICE_LIST_TRUST_MS });
  }

  /** The devices that must be notified of a change of our list, each once. */
  takeDeviceListSubscribers(nowMs: number): Device[] {
    const subscribers = [...this.deviceListSubscribers.values()].filter(({ untilMs }) => untilMs > nowMs);
    this.deviceListSubscribers.clear();
    for (const { device } of subscribers) this.subscribeToDeviceList(device, nowMs);
    return subscribers.map(({ device }) => device);
  }

  snapshot(): { account: AccountState; devices: DeviceState[] } {
    return { account: this.state, devices: [...this.devices.values()].map((device) => device.snapshot()) };
  }
}

export interface SignedPreKeyPublic {
  id: number;
  value: Buffer;
  signature: Buffer;
}

/** What is stored of a linked device. */
export interface DeviceState {
  id: number;
  keyIndex: number;
  linkedAtMs: number;
  /** When its last connection was opened or closed. */
  seenAtMs?: number;
  noise: Buffer;
  identity: Buffer;
  registrationId: number;
  signedPreKey: SignedPreKeyPublic;
  platform: string;
  /** The client requested all of the phone's history, not only for the recent part. */
  fullHistory: boolean;
  preKeysTaken: number;
  bootstrapped: boolean;
  queue: QueuedState[];
}

/** What a device needs of the socket on which it is logged in. */
export interface DeviceConnection {
  readonly id: number;
  /** The device has requested its stanzas: they are sent as they come. */
  readonly active: boolean;
  /** The client has announced that somebody looks at it. */
  readonly available: boolean;
  send(stanza: Node): void;
  /** Sends a last stanza, if any, and closes. */
  end(last?: Node): void;
}

/** A companion device linked to an account: its public keys, its one-time keys, and what waits for it. */
export class Device {
  readonly preKeys: PreKeyStock;
  readonly queue: StanzaQueue;
  /** The socket on which this device is logged in now. */
  connection: DeviceConnection | undefined;

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
  sendNow(stanza: Node): void {
    if (this.connection?.active) this.connection.send(stanza);
  }

  snapshot(): DeviceState {
    return { ...this.state, preKeysTaken: this.preKeys.taken, queue: this.queue.snapshot() };
  }
}
