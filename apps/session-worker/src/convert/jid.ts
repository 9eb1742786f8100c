/**
 * The network's addresses (JIDs) and the ids customers see.
 *
 * The network names a person by phone number (`15550001111@s.whatsapp.net`) or by LID (`900000000001@lid`), with or
 * without a device (`:7`). Customers see the number wherever it is known, `<digits>@lid` where it is not, and never a
 * LID as if it were a number.
 */
import { GROUP_SUFFIX, INDIVIDUAL_SUFFIX, LID_SUFFIX } from '@dormouse/gateway-contract';

/** The parts of an address; a device (or agent) part is dropped. */
export interface Jid {
  user: string;
  server: string;
}

/**
 * Reads an address.
 * @returns undefined when there is none
 */
export function readJid(text: string | null | undefined): Jid | undefined {
  if (!text) return undefined;
  const at = text.lastIndexOf('@');
  if (at <= 0 || at === text.length - 1) return undefined;
  const user = /^[^:_]+/.exec(text.slice(0, at))?.[0];
  return user === undefined ? undefined : { user, server: plainServer(text.slice(at + 1)) };
}

/** Accounts hosted by the network's cloud have servers of their own; they are the same people. `c.us` is old usage. */
function plainServer(server: string): string {
  if (server === 'c.us' || server === 'hosted') return INDIVIDUAL_SUFFIX;
  return server === 'hosted.lid' ? LID_SUFFIX : server;
}

/** The address without device. */
export function bareJid(text: string): string {
  const jid = readJid(text);
  return jid ? `${jid.user}@${jid.server}` : text;
}

export function isLid(text: string | null | undefined): boolean {
  return readJid(text)?.server === LID_SUFFIX;
}

export function isNumber(text: string | null | undefined): boolean {
  return readJid(text)?.server === INDIVIDUAL_SUFFIX;
}

/** A channel of the network's own kind, whose messages are not encrypted. */
export function isNewsletter(text: string): boolean {
  return text.endsWith('@newsletter');
}

export function isGroup(text: string | null | undefined): boolean {
  return readJid(text)?.server === GROUP_SUFFIX;
}

/** Which numbers belong to LIDs: user part of a LID to digits of the number, as far as known. */
export type KnownNumbers = ReadonlyMap<string, string>;

const NO_NUMBERS: KnownNumbers = new Map();

/**
 * Who a person's addresses stand for, as a chat id: the number if any of the addresses or the known numbers gives it,
 * else the LID.
 * @returns undefined when none of them is a person's address
 */
export function personChatId(jids: readonly (string | null | undefined)[], numbers = NO_NUMBERS): string | undefined {
  let lid: string | undefined;
  for (const text of jids) {
    const jid = readJid(text);
    if (!jid) continue;
    if (jid.server === INDIVIDUAL_SUFFIX) return `${jid.user}@${INDIVIDUAL_SUFFIX}`;
    if (jid.server !== LID_SUFFIX) continue;
    const number = numbers.get(jid.user);
    if (number !== undefined) return `${number}@${INDIVIDUAL_SUFFIX}`;
    lid ??= `${jid.user}@${LID_SUFFIX}`;
  }
  return lid;
}

/** The same as a contact id: digits of the number, or `<digits>@lid`. */
export function personContactId(
  jids: readonly (string | null | undefined)[],
  numbers = NO_NUMBERS,
): string | undefined {
  const chatId = personChatId(jids, numbers);
  return chatId === undefined ? undefined : contactIdOf(chatId);
}

/** The contact a one-to-one chat is with. */
export function contactIdOf(chatId: string): string {
  return chatId.endsWith(`@${INDIVIDUAL_SUFFIX}`) ? chatId.slice(0, chatId.lastIndexOf('@')) : chatId;
}

/** The address under which the network knows a contact. */
export function contactJid(contactId: string): string {
  return contactId.includes('@') ? contactId : `${contactId}@${INDIVIDUAL_SUFFIX}`;
}

/** The parts of a message key from which its chat and its author are found. */
export interface AddressedKey {
  remoteJid?: string | null;
  remoteJidAlt?: string | null;
  participant?: string | null;
  participantAlt?: string | null;
  fromMe?: boolean | null;
}

/**
 * The chat of a message as customers see it. A message to a broadcast list is, for its receiver, a message of its
 * author; status updates and newsletters are no chats here.
 * @returns undefined when the message belongs to no chat
 */
export function chatIdOfKey(key: AddressedKey, numbers?: KnownNumbers): string | undefined {
  const remote = readJid(key.remoteJid);
  if (!remote) return undefined;
  if (remote.server === GROUP_SUFFIX) return `${remote.user}@${GROUP_SUFFIX}`;
  if (remote.server === 'broadcast' && remote.user !== 'status' && !key.fromMe) {
    return personChatId([key.participant, key.participantAlt], numbers);
  }
  const isPerson = remote.server === INDIVIDUAL_SUFFIX || remote.server === LID_SUFFIX;
  return isPerson ? personChatId([key.remoteJid, key.remoteJidAlt], numbers) : undefined;
}

/** The author of a message that is not an own one, as a contact id. */
export function authorOfKey(key: AddressedKey, numbers?: KnownNumbers): string | undefined {
  const participant = personContactId([key.participant, key.participantAlt], numbers);
  return participant ?? personContactId([key.remoteJid, key.remoteJidAlt], numbers);
}

/** Every form of the addresses in a key, without devices, each once. */
export function addressForms(key: AddressedKey): string[] {
  const forms = [key.remoteJid, key.remoteJidAlt, key.participant, key.participantAlt].flatMap((text) =>
    text && readJid(text) ? [bareJid(text)] : [],
  );
  return [...new Set(forms)];
}
