/**
 * People who are named in a text. Clients write `@` and the digits of a person's number or LID; customers see `@` and the
 * contact id, as in `mentions`, so that the digits of a LID are never taken for a number.
 */
import type { Message } from '@dormouse/gateway-contract';
import { LID_SUFFIX } from '@dormouse/gateway-contract';
import { readJid } from './jid.js';
import { contactOf, type People } from './people.js';

/** `@` and digits, not followed by more of an address. */
const NAMED = /@(\d{5,20})(?![\d@])/g;

/** The digits of the person on a contact card, in the parameter that clients add to the card. */
const ON_CARD = /(?<=\bwaid=)\d{5,20}(?!\d)/gi;

/** Fields whose value is not text for people and is left as it is. */
const VERBATIM: ReadonlySet<string> = new Set(['id', 'url', 'link', 'merchant_url', 'values']);

/** Depth at which the walk through a content ends; no content is nested as deeply. */
const MAX_DEPTH = 8;

/**
 * The fields of a content, with contact ids where its texts name people.
 * @param mentioned addresses of the people a message mentions
 */
export function withNames(
  fields: Partial<Message>,
  mentioned: readonly string[] | null | undefined,
  people: People,
): Partial<Message> {
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return textWithNames(value, people, mentioned);
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((entry) => walk(entry, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => {
        if (name === 'vcard' && typeof entry === 'string') return [name, cardWithNames(entry, people)];
        return [name, VERBATIM.has(name) ? entry : walk(entry, depth + 1)];
      }),
    );
  };
  return walk(fields, 0) as Partial<Message>;
}

/**
 * The text with contact ids where it names people.
 * @param mentioned as in {@link withNames}
 */
export function textWithNames(text: string, people: People, mentioned?: readonly string[] | null): string {
  if (!text.includes('@')) return text;
  return text.replace(NAMED, (_, digits: string) => {
    const lid = `${digits}@${LID_SUFFIX}`;
    const contact = contactOf(lid, people);
    const isMentioned = () => (mentioned ?? []).some((jid) => isLidOf(jid, digits));
    return `@${contact !== undefined && (contact !== lid || isMentioned()) ? contact : digits}`;
  });
}

/** A contact card with LIDs replaced by their numbers, where those are known. */
function cardWithNames(card: string, people: People): string {
  return card.replace(ON_CARD, (digits) => {
    const contact = contactOf(`${digits}@${LID_SUFFIX}`, people);
    return contact === undefined || contact.includes('@') ? digits : contact;
  });
}

function isLidOf(jid: string, digits: string): boolean {
  const read = readJid(jid);
  return read?.server === LID_SUFFIX && read.user === digits;
}

/** A text for the network: people known by LID only are named by the digits of the LID, as clients write it. */
export function textForNetwork(text: string, mentioned: readonly string[] | null | undefined): string {
  let written = text;
  for (const jid of mentioned ?? []) {
    if (readJid(jid)?.server === LID_SUFFIX) written = written.replaceAll(`@${jid}`, `@${readJid(jid)?.user ?? ''}`);
  }
  return written;
}
