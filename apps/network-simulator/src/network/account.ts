import { randomBytes, randomInt } from 'node:crypto';
import { formatJid, LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { newKeyPair, sign, withType, type KeyPair } from '../wire/keys.js';
import { newAppState, type AppState } from '../shared-state/collection.js';
import type { Picture } from './pictures.js';
import { Device, type DeviceState } from './device.js';

/** The Signal keys of a phone. */
export interface PhoneKeys {
  registrationId: number;
  identity: KeyPair;
  signedPreKey: { id: number; pair: KeyPair; signature: Buffer };
}

/** What is kept of a person on the network. */
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
}

export const MAX_COMPANIONS = 4;

/** How long clients trust a list of devices before they ask again; changes are told to whoever asked within it. */
const DEVICE_LIST_TRUST_MS = 10 * 60_000;

/** A person on the network: a number, its private id, its phone's keys (made when first needed) and linked devices. */
export class Account {
  readonly devices = new Map<number, Device>();
  private readonly deviceListAskers = new Map<string, { device: Device; untilMs: number }>();

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
   * privacy setting `number` is `none`) is known by private id alone, until something is said under the number.
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

  addDevice(state: DeviceState, preKeys?: Buffer): Device {
    const device = new Device(this, state, preKeys);
    this.devices.set(device.id, device);
    return device;
  }

  /** Notes that this device now trusts the list of our devices. */
  deviceListAskedBy(device: Device, nowMs: number): void {
    this.deviceListAskers.set(device.key, { device, untilMs: nowMs + DEVICE_LIST_TRUST_MS });
  }

  /** The devices that must hear of a change of our list, each once. */
  takeDeviceListAskers(nowMs: number): Device[] {
    const askers = [...this.deviceListAskers.values()].filter(({ untilMs }) => untilMs > nowMs);
    this.deviceListAskers.clear();
    for (const { device } of askers) this.deviceListAskedBy(device, nowMs);
    return askers.map(({ device }) => device);
  }

  snapshot(): { account: AccountState; devices: DeviceState[] } {
    return { account: this.state, devices: [...this.devices.values()].map((device) => device.snapshot()) };
  }
}
