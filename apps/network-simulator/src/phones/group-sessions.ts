import {
  GroupCipher,
  GroupSessionBuilder,
  ProtocolAddress,
  SenderKeyDistributionMessage,
  SenderKeyName,
  type SignalStorage,
} from 'whatsapp-rust-bridge';
import type { Account } from '../network/account.js';
import type { DeviceAddress } from './signal.js';

/** What is stored of a phone's group encryption. */
export interface GroupSessionState {
  /** Sender keys by group and author. */
  senderKeys: Record<string, Buffer>;
  /** Which devices have our own key of a group. */
  known: Record<string, string[]>;
}

/** A phone's sender keys: its own, one per group, and those that others shared. WebAssembly: groups sign every message. */
export class GroupSessions {
  private readonly senderKeys: Map<string, Buffer>;
  private readonly known: Map<string, Set<string>>;

  constructor(
    private readonly own: Account,
    stored: GroupSessionState = { senderKeys: {}, known: {} },
  ) {
    this.senderKeys = new Map(Object.entries(stored.senderKeys));
    this.known = new Map(Object.entries(stored.known).map(([group, devices]) => [group, new Set(devices)]));
  }

  snapshot(): GroupSessionState {
    return {
      senderKeys: Object.fromEntries(this.senderKeys),
      known: Object.fromEntries([...this.known].map(([group, devices]) => [group, [...devices]])),
    };
  }

  /** Encrypts for the group; `key` is what devices need that do not have our key yet. */
  async encrypt(group: string, plain: Uint8Array): Promise<{ sealed: Buffer; key: Buffer }> {
    const us = this.address({ account: this.own, device: 0 });
    const key = await this.ownKey(group);
    const sealed = Buffer.from(await new GroupCipher(this.storage(), group, us).encrypt(plain));
    return { sealed, key };
  }

  /** Our key of a group as others get it; made at the first use. */
  async ownKey(group: string): Promise<Buffer> {
    const us = this.address({ account: this.own, device: 0 });
    const message = await new GroupSessionBuilder(this.storage()).create(new SenderKeyName(group, us));
    return Buffer.from(message.serialize());
  }

  async decrypt(group: string, author: DeviceAddress, sealed: Buffer): Promise<Buffer> {
    return Buffer.from(await new GroupCipher(this.storage(), group, this.address(author)).decrypt(sealed));
  }

  /** Stores a key that an author shared for a group. */
  async learn(group: string, author: DeviceAddress, key: Uint8Array): Promise<void> {
    const name = new SenderKeyName(group, this.address(author));
    await new GroupSessionBuilder(this.storage()).process(name, SenderKeyDistributionMessage.deserialize(key));
  }

  hasOurKey(group: string, device: string): boolean {
    return this.known.get(group)?.has(device) ?? false;
  }

  /** Notes that a device got our key. */
  shared(group: string, device: string): void {
    const devices = this.known.get(group) ?? new Set();
    this.known.set(group, devices.add(device));
    this.own.changed();
  }

  /** Somebody left: a new key, which they never get. */
  renew(group: string): void {
    this.known.delete(group);
    // Our companions have keys of their own, and do not share them again.
    this.senderKeys.delete(this.ownName(group));
    this.own.changed();
  }

  /** Forgets everybody's keys of a group but our own, as a phone that lost its data. */
  forgetAuthors(group: string): void {
    const ours = this.ownName(group);
    for (const name of this.senderKeys.keys()) {
      if (name.includes(group) && name !== ours) this.senderKeys.delete(name);
    }
  }

  forgetDevice(device: string): void {
    for (const devices of this.known.values()) devices.delete(device);
  }

  /** The name under which the library stores our own key of a group. */
  private ownName(group: string): string {
    return new SenderKeyName(group, this.address({ account: this.own, device: 0 })).toString();
  }

  private address({ account, device }: DeviceAddress): ProtocolAddress {
    return new ProtocolAddress(`${account.lid}_1`, device);
  }

  private storage(): SignalStorage {
    const unused = (): never => {
      throw new Error('Group encryption uses sender keys only.');
    };
    return {
      loadSession: unused,
      storeSession: unused,
      getOurIdentity: unused,
      getOurRegistrationId: unused,
      isTrustedIdentity: () => true,
      loadPreKey: unused,
      removePreKey: unused,
      loadSignedPreKey: unused,
      loadSenderKey: (id) => this.senderKeys.get(id),
      storeSenderKey: (id, record) => {
        this.senderKeys.set(id, Buffer.from(record));
        this.own.changed();
      },
    };
  }
}
