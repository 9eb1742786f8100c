import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import type { PhoneEvent } from '../network/phone-event.js';
import type { PrimaryDevices } from '../network/primary-device.js';
import { KeptMessages } from './kept-messages.js';
import { Phone } from './phone.js';

/** The virtual phones of all numbers, made when first needed. */
export class Phones implements PrimaryDevices {
  private readonly byNumber = new Map<string, Phone>();
  /** Which phones have a chat, by chat: with thousands of phones they cannot all be searched at every login. */
  private readonly byChat = new Map<string, Set<Phone>>();

  private readonly kept = new KeptMessages();

  private constructor(readonly network: Network) {}

  /** The phones of a network, with the messages that were stored. From now on the network delivers to them. */
  static async open(network: Network): Promise<Phones> {
    const phones = new Phones(network);
    network.attachPhones(phones);
    for (const account of network.accounts.all()) {
      if (network.accounts.storedPhoneState(account.phone) !== undefined) await phones.of(account).load();
    }
    return phones;
  }

  /** The phone of an account (its device 0). */
  of(account: Account): Phone {
    let phone = this.byNumber.get(account.phone);
    if (!phone) {
      phone = new Phone(this.network, account, (began, chat) => this.chatBegan(began, chat), this.kept);
      this.byNumber.set(account.phone, phone);
    }
    return phone;
  }

  /** Ends a phone whose account is removed: resolves when it has done what it was at. */
  async remove(account: Account): Promise<void> {
    const phone = this.byNumber.get(account.phone);
    if (!phone) return;
    await phone.idle();
    this.byNumber.delete(account.phone);
    for (const havingChat of this.byChat.values()) havingChat.delete(phone);
  }

  /** Ends all phones. */
  async clear(): Promise<void> {
    await Promise.all([...this.byNumber.values()].map((phone) => phone.idle()));
    this.byNumber.clear();
    this.byChat.clear();
    this.kept.clear();
  }

  notifyChat(event: PhoneEvent): void {
    for (const phone of this.byChat.get(event.chat) ?? []) {
      if (phone.account.phoneJid !== event.from) phone.notify(event);
    }
  }

  private chatBegan(phone: Phone, chat: string): void {
    const phones = this.byChat.get(chat) ?? new Set<Phone>();
    this.byChat.set(chat, phones.add(phone));
  }
}
