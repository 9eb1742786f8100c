import { LID_SUFFIX, INDIVIDUAL_SUFFIX } from '@dormouse/gateway-contract';
import { authorOfKey, personContactId, readJid, type AddressedKey, type KnownNumbers } from './jid.js';

/** Who is who, as far as the worker knows: the channel itself, and which number a LID belongs to. */
export interface People {
  /** Digits of the channel's number, and the user part of its LID once known. */
  own: { phone: string; lid?: string | undefined };
  numbers: KnownNumbers;
}

/** Is this address, in whichever form, the channel's own? */
export function isOwn(jid: string | null | undefined, { own }: People): boolean {
  const read = readJid(jid);
  if (!read) return false;
  return read.server === LID_SUFFIX
    ? read.user === own.lid
    : read.server === INDIVIDUAL_SUFFIX && read.user === own.phone;
}

/** The contact id of an address; the channel's own LID is its number. */
export function contactOf(jid: string | null | undefined, people: People): string | undefined {
  return isOwn(jid, people) ? people.own.phone : personContactId([jid], people.numbers);
}

/** The author of a message, as a contact id. */
export function authorOf(key: AddressedKey, people: People): string | undefined {
  return key.fromMe ? people.own.phone : authorOfKey(key, people.numbers);
}
