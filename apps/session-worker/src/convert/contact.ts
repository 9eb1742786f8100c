import type { ContactRecord } from '@dormouse/message-store/write';
import type { Contact } from '@whiskeysockets/baileys';
import { personContactId, readJid, type KnownNumbers } from './jid.js';

/**
 * Reads a contact of the network.
 * @returns undefined when it has no address of a person, or nothing beside its address
 */
export function contactFromNetwork(contact: Partial<Contact>, numbers: KnownNumbers): ContactRecord | undefined {
  const jids = [contact.phoneNumber, contact.id, contact.lid];
  const id = personContactId(jids, numbers);
  if (id === undefined) return undefined;
  const lid = jids.map((jid) => readJid(jid)).find((jid) => jid?.server === 'lid')?.user;
  const pushName = contact.notify ?? contact.verifiedName;
  const record: ContactRecord = {
    id,
    ...(contact.name && { name: contact.name }),
    ...(pushName && { pushName }),
    ...(contact.verifiedName && { business: true }),
    ...(lid !== undefined && { lid }),
  };
  return Object.keys(record).length > 1 ? record : undefined;
}
