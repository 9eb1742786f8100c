import type { OpenedChange } from '../shared-state/read.js';
import type { Node } from '../wire/node.js';
import type { Account, Device } from './account.js';
import type { PhoneEvent } from './phone-event.js';

/** What the network needs of the phone of an account, its device 0. The phones themselves are a layer above. */
export interface PrimaryDevice {
  /** A stanza that the network delivers. */
  receive(stanza: Node): void;
  /** Queues what a newly linked device needs first: keys, history, names. */
  bootstrap(device: Device): Promise<void>;
  /** A companion is not linked any more. */
  forgetDevice(device: number): void;
  /** A companion requests a file that is gone from the host. */
  uploadAgain(device: Device, request: Node): void;
  /** A companion changed what the account's devices share. */
  sharedStateChanged(changes: OpenedChange[]): void;
  /** Something happened that is no message. */
  notify(event: PhoneEvent): void;
}

/** The phones of all accounts, made when first needed. */
export interface PrimaryDevices {
  of(account: Account): PrimaryDevice;
  /** Notifies every phone that has the chat of the event, but the one it is from. */
  notifyChat(event: PhoneEvent): void;
}
