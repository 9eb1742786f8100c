import { LID_SUFFIX, INDIVIDUAL_SUFFIX } from '@dormouse/gateway-contract';
import { authorOfKey, personContactId, readJid, type AddressedKey, type KnownNumbers } from './jid.js';

/** The known identities: the channel's own addresses, and the numbers of LIDs. */
export interface People {
  /** Digits of the channel's number, and the user part of its LID once known. */
  own: { phone: string; lid?: string | undefined };
  numbers: KnownNumbers;
}

/** Whether an address, number or LID, is the channel's own. */
export function isOwn(jid: string | null | undefined, { own }: People): boolean {
  const read = readJid(jid);
  if (!read) return false;
  return read.server === LID_SUFFIX
    ? read.user === own.lid
    : read.server === INDIVIDUAL_SUFFIX && read.user === own.phone;
}

/** The contact id of an address; for the channel's own LID it is the own number. */
export function contactOf(jid: string | null | undefined, people: People): string | undefined {
  return isOwn(jid, people) ? people.own.phone : personContactId([jid], people.numbers);
}

/** The author of a message, as a contact id. */
export function authorOf(key: AddressedKey, people: People): string | undefined {
  return key.fromMe ? people.own.phone : authorOfKey(key, people.numbers);
}
