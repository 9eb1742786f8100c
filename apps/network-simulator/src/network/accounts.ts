import { randomInt } from 'node:crypto';
import type { Store } from '../store/store.js';
import { LID_SERVER, parseJid } from '../wire/jid.js';
import { Account, type AccountState } from './account.js';
import { waysToName } from './typed-numbers.js';
import type { Device, DeviceState } from './account.js';

/** What one account's file holds; `phone` is the phone's own state, stored here untouched until the phone is used. */
interface AccountFile {
  account: AccountState;
  devices: DeviceState[];
  phone?: unknown;
}

/** Everybody on the network, by number and by private id. */
export class Accounts {
  private readonly byPhone = new Map<string, Account>();
  private readonly byLid = new Map<string, Account>();
  private readonly phoneStates = new Map<string, () => unknown>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly store: Store) {}

  /** Reads what is stored on disk. */
  async load(): Promise<void> {
    for (const name of await this.store.list('accounts', '.json')) {
      const { account: state, devices, phone } = (await this.store.json(name)) as AccountFile;
      const account = this.index(new Account(state, () => this.save(account)));
      if (phone !== undefined) this.phoneStates.set(account.phone, () => phone);
      for (const device of devices)
        account.addDevice(device, await this.store.bytes(preKeyFile(account.phone, device.id)));
    }
  }

  all(): Iterable<Account> {
    return this.byPhone.values();
  }

  get size(): number {
    return this.byPhone.size;
  }

  /** Adds a person. Without a number one is made up. Throws when the number is taken. */
  add(phone = this.freePhone(), name = `Phone ${phone.slice(-4)}`): Account {
    if (this.byPhone.has(phone)) throw new Error(`The number ${phone} exists already.`);
    const account: Account = Account.fresh(phone, this.freeLid(), name, () => this.save(account));
    this.index(account);
    account.changed();
    this.notify();
    return account;
  }

  /** Calls the listener whenever a person came or went, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  byNumber(phone: string): Account | undefined {
    return this.byPhone.get(phone);
  }

  /** Who a number means as people type it: country rules may name the same person otherwise. */
  findTyped(digits: string): Account | undefined {
    for (const name of waysToName(digits)) {
      const account = this.byPhone.get(name);
      if (account) return account;
    }
    return undefined;
  }

  /** Who an address names; the device part is ignored. */
  find(jid: string): Account | undefined {
    const { user, server } = parseJid(jid);
    return server === LID_SERVER ? this.byLid.get(user) : this.byPhone.get(user);
  }

  /** The linked device an address names; `undefined` for phones and for devices that are not linked. */
  findDevice(jid: string): Device | undefined {
    return this.find(jid)?.devices.get(parseJid(jid).device);
  }

  /** Takes a person off the network: nobody has this number any more. Resolves when nothing of them is on disk. */
  async remove(account: Account): Promise<void> {
    this.byPhone.delete(account.phone);
    this.byLid.delete(account.lid);
    this.phoneStates.delete(account.phone);
    const { phone } = account;
    const preKeys = await this.store.list('prekeys', '.bin');
    const files = [
      accountFile(phone),
      `accounts/${phone}.log`,
      `accounts/${phone}.events`,
      ...preKeys.filter((name) => name.includes(`/${phone}-`)),
    ];
    for (const file of files) await this.store.remove(file);
    this.notify();
  }

  /** Takes everybody off the network. */
  async clear(): Promise<void> {
    this.byPhone.clear();
    this.byLid.clear();
    this.phoneStates.clear();
    await this.store.removeFolder('accounts');
    await this.store.removeFolder('prekeys');
    this.notify();
  }

  /** What is stored of a phone's own state, if the phone has not been used yet. */
  storedPhoneState(phone: string): unknown {
    return this.phoneStates.get(phone)?.();
  }

  /** From now on this account's file carries the phone state that `snapshot` returns. */
  attachPhoneState(phone: string, snapshot: () => unknown): void {
    this.phoneStates.set(phone, snapshot);
  }

  savePreKeys(device: Device): void {
    this.store.saveBytes(preKeyFile(device.account.phone, device.id), () => device.preKeys.bytes);
    device.account.changed();
  }

  forgetPreKeys(device: Device): Promise<void> {
    return this.store.remove(preKeyFile(device.account.phone, device.id));
  }

  private save(account: Account): void {
    // What still happens at a person who was removed is stored no more.
    if (this.byPhone.get(account.phone) !== account) return;
    this.store.save(accountFile(account.phone), (): AccountFile => {
      const phone = this.phoneStates.get(account.phone)?.();
      return phone === undefined ? account.snapshot() : { ...account.snapshot(), phone };
    });
  }

  private index(account: Account): Account {
    this.byPhone.set(account.phone, account);
    this.byLid.set(account.lid, account);
    return account;
  }

  private freePhone(): string {
    for (;;) {
      const phone = `659${randomInt(0, 10_000_000).toString().padStart(7, '0')}`;
      if (!this.byPhone.has(phone)) return phone;
    }
  }

  private freeLid(): string {
    for (;;) {
      const lid = `${randomInt(1, 10)}${randomInt(0, 10 ** 12)
        .toString()
        .padStart(13, '0')}`;
      if (!this.byLid.has(lid)) return lid;
    }
  }
}

const accountFile = (phone: string): string => `accounts/${phone}.json`;
const preKeyFile = (phone: string, device: number): string => `prekeys/${phone}-${device}.bin`;
