import type { Logger } from 'pino';
import { Faults } from '../faults/faults.js';
import { Phone } from '../phone/phone.js';
import type { Store } from '../store/store.js';
import { certificateChain, newServerIdentity, type ServerIdentity } from '../wire/certificate.js';
import type { Node } from '../wire/node.js';
import type { Account } from './account.js';
import { Accounts } from './accounts.js';
import { Connections } from './connections.js';
import { Groups } from '../groups/groups.js';
import { Limits } from './limits.js';
import { PairingCodes } from './pairing-codes.js';

/** How long the codes of a linking screen live. */
export interface QrTimings {
  /** The first code. */
  firstMs: number;
  /** Each later one. */
  nextMs: number;
  /** How many codes a screen gets before the client gives up. */
  count: number;
}

export interface NetworkOptions {
  qr: QrTimings;
  log: Logger;
  now?: () => number;
}

const IDENTITY_FILE = 'network.json';

/** The simulated network: who exists, who is connected, what is wrong with it, and the phones of all numbers. */
export class Network {
  readonly accounts: Accounts;
  readonly connections: Connections;
  readonly groups: Groups;
  readonly limits: Limits;
  readonly faults = new Faults();
  readonly pairingCodes: PairingCodes;
  readonly log: Logger;
  readonly now: () => number;
  private readonly phones = new Map<string, Phone>();
  private lastStanza = 0;
  private mediaAddress = '127.0.0.1';
  /** Receipts that were passed on: further devices of the same reader add nothing new. */
  readonly receiptsSeen = new Set<string>();

  private constructor(
    readonly identity: ServerIdentity,
    readonly certificates: Uint8Array,
    readonly store: Store,
    readonly options: NetworkOptions,
  ) {
    this.log = options.log;
    this.now = options.now ?? Date.now;
    this.accounts = new Accounts(store);
    this.connections = new Connections(this.now);
    this.groups = new Groups(store);
    this.limits = new Limits(this.now);
    this.pairingCodes = new PairingCodes(options.qr, this.now);
  }

  /** The network as it was left in the store, or a new one. */
  static async open(store: Store, options: NetworkOptions): Promise<Network> {
    const kept = (await store.json(IDENTITY_FILE)) as ServerIdentity | undefined;
    const identity = kept ?? newServerIdentity();
    if (!kept) store.save(IDENTITY_FILE, () => identity);
    const now = options.now ?? Date.now;
    const network = new Network(identity, certificateChain(identity, now()), store, options);
    await network.accounts.load();
    await network.groups.load();
    for (const account of network.accounts.all()) {
      if (network.accounts.keptPhoneState(account.phone) !== undefined) await network.phone(account).load();
    }
    return network;
  }

  /** The phone of a number (device 0). */
  phone(account: Account): Phone {
    let phone = this.phones.get(account.phone);
    if (!phone) {
      phone = new Phone(this, account);
      this.phones.set(account.phone, phone);
    }
    return phone;
  }

  /** Host and port of the files, as clients are told. */
  mediaHost(): string {
    return this.mediaAddress;
  }

  serveMediaAt(host: string): void {
    this.mediaAddress = host;
  }

  /** Seconds since 1970 as stanzas carry them. */
  timestamp(): string {
    return Math.floor(this.now() / 1000).toString();
  }

  /** An id for a stanza that the server itself makes. */
  stanzaId(): string {
    return `${Math.floor(this.now() / 1000)}-${++this.lastStanza}`;
  }

  /** Brings a stanza to one device of an account: its phone (0) or a companion. Unlinked devices get nothing. */
  deliver(account: Account, device: number, stanza: Node): void {
    if (device === 0) this.phone(account).receive(stanza);
    else account.devices.get(device)?.deliver(stanza);
  }

  /** Brings a stanza to all devices of an account but one. */
  deliverToAll(account: Account, stanza: Node, except?: number): void {
    if (except !== 0) this.deliver(account, 0, stanza);
    for (const device of account.devices.values()) {
      if (device.id !== except) device.deliver(stanza);
    }
  }

  /** Whether the number is to be treated as not registered. */
  unknown(account: Account): boolean {
    return this.faults.find('make-unknown', { phone: account.phone }) !== undefined;
  }
}
