import type { Logger } from 'pino';
import { Faults } from './faults.js';
import type { Store } from '../store/store.js';
import { certificateChain, newServerIdentity, type ServerIdentity } from '../wire/certificate.js';
import type { Node } from '../wire/node.js';
import type { Account } from './account.js';
import { Accounts } from './accounts.js';
import type { Connection } from './connection.js';
import { Connections } from './connections.js';
import { Groups } from './groups.js';
import { MediaStore } from '../media/media-store.js';
import { underFaults } from './delivery-faults.js';
import { Limits } from './limits.js';
import { PairingCodes, type QrTimings } from './pairing-codes.js';
import { PresenceRecords } from './presence-records.js';
import type { PrimaryDevices } from './primary-device.js';
import { Trace } from './trace.js';
import { Clock } from './clock.js';
import { CodeLinkings } from './code-linkings.js';

/** How long after sending a message can be changed. */
export interface ChangeWindows {
  editSeconds: number;
  deleteSeconds: number;
}

export interface NetworkOptions {
  qr: QrTimings;
  windows: ChangeWindows;
  log: Logger;
  now?: () => number;
  /** Keys of the network instead of new ones. */
  identity?: ServerIdentity;
}

const IDENTITY_FILE = 'network.json';

/** The simulated network: who exists, who is connected, and what is wrong with it. */
export class Network {
  readonly accounts: Accounts;
  readonly connections: Connections;
  readonly groups: Groups;
  readonly limits: Limits;
  codeLinkings = new CodeLinkings();
  presence = new PresenceRecords();
  readonly trace: Trace;
  readonly media: MediaStore;
  readonly faults = new Faults();
  readonly pairingCodes: PairingCodes;
  readonly log: Logger;
  readonly now: () => number;
  private primaries: PrimaryDevices | undefined;
  private lastStanza = 0;
  private mediaAddress = '127.0.0.1';
  /** Receipts that were forwarded: further devices of the same reader add nothing new. */
  readonly receiptsSeen = new Set<string>();
  /** Ids of which some device requested another copy: its sender may have sent it to everybody again. */
  readonly resendsRequested = new Set<string>();
  /** Messages that a client rejected for good. */
  readonly givenUp: { phone: string; device: number; id: string; error: string; atMs: number }[] = [];

  private constructor(
    readonly identity: ServerIdentity,
    readonly certificates: Uint8Array,
    readonly store: Store,
    readonly options: NetworkOptions,
    readonly clock: Clock,
  ) {
    this.log = options.log;
    this.now = clock.now;
    this.trace = new Trace(this.now);
    this.accounts = new Accounts(store);
    this.connections = new Connections(this.now);
    this.groups = new Groups(store);
    this.limits = new Limits(this.now);
    this.media = new MediaStore(store, this.now);
    this.pairingCodes = new PairingCodes(options.qr, this.now);
  }

  /** The network as it is in the store, or a new one. */
  static async open(store: Store, options: NetworkOptions): Promise<Network> {
    const stored = (await store.json(IDENTITY_FILE)) as ServerIdentity | undefined;
    const identity = stored ?? options.identity ?? newServerIdentity();
    if (!stored) store.save(IDENTITY_FILE, () => identity);
    const clock = new Clock(store, options.now);
    await clock.load();
    const network = new Network(identity, certificateChain(identity, clock.now()), store, options, clock);
    await network.accounts.load();
    await network.groups.load();
    await network.media.load();
    return network;
  }

  /** The phones of all accounts. Throws before {@link attachPhones}. */
  get phones(): PrimaryDevices {
    if (!this.primaries) throw new Error('The network has no phones yet.');
    return this.primaries;
  }

  /** Gives the network its phones: once, before anybody connects. */
  attachPhones(phones: PrimaryDevices): void {
    this.primaries = phones;
  }

  /** Host and port of the files, as sent to clients. */
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

  /** Delivers a stanza to one device of an account: its phone (0) or a companion. Unlinked devices get nothing. */
  deliver(account: Account, device: number, stanza: Node): void {
    const stanzas =
      stanza.tag === 'message' && this.faults.any
        ? underFaults(this.faults, { phone: account.phone, device }, stanza, this.log)
        : [stanza];
    for (const one of stanzas) {
      if (device === 0) this.phones.of(account).receive(one);
      else account.devices.get(device)?.deliver(one);
    }
  }

  /** Delivers a stanza to all devices of an account but one. */
  deliverToAll(account: Account, stanza: Node, except?: number): void {
    if (except !== 0) this.deliver(account, 0, stanza);
    for (const device of account.devices.values()) {
      if (device.id !== except) this.deliver(account, device.id, stanza);
    }
  }

  /** How long a stanza of this connection is under way, when a fault slows the line. */
  lagOf(connection: Connection): number {
    if (!this.faults.any) return 0;
    const { device } = connection;
    const slow = this.faults.trigger('delay', { phone: device?.account.phone, device: device?.id });
    return slow ? (slow.ms ?? 0) + Math.random() * (slow.jitterMs ?? 0) : 0;
  }

  /**
   * Back to an empty network, with the same keys: nobody exists, nothing is stored, no fault is in force, the clock is right.
   * Who is connected is no longer linked, and is notified of that.
   */
  async clear(): Promise<void> {
    this.faults.clear();
    this.connections.clear();
    this.limits.clear();
    this.clock.reset();
    this.trace.clear();
    this.codeLinkings = new CodeLinkings();
    this.presence = new PresenceRecords();
    this.receiptsSeen.clear();
    this.resendsRequested.clear();
    this.givenUp.length = 0;
    await Promise.all([this.accounts.clear(), this.groups.clear(), this.media.clear()]);
  }

  /** Whether the number is to be treated as not registered. */
  unknown(account: Account): boolean {
    return this.faults.find('make-unknown', { phone: account.phone }) !== undefined;
  }
}
