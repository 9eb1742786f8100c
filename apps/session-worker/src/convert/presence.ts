import type { Presence } from '@dormouse/gateway-contract';
import type { BaileysEventMap, PresenceData } from '@whiskeysockets/baileys';
import { bareJid, isGroup, personChatId } from './jid.js';
import { contactOf, isOwn, type People } from './people.js';

const STATUSES: Partial<Record<PresenceData['lastKnownPresence'], NonNullable<Presence['status']>>> = {
  available: 'online',
  unavailable: 'offline',
  composing: 'typing',
  recording: 'recording',
  // Stopped typing: the person is still there.
  paused: 'online',
};

/** The presences in an update. @param ignored ids of chats whose presences are left out */
export function presencesFromNetwork(
  { id, presences }: BaileysEventMap['presence.update'],
  people: People,
  ignored: readonly string[],
): Presence[] {
  const chat = isGroup(id) ? bareJid(id) : personChatId([id], people.numbers);
  if (chat === undefined || ignored.includes(chat)) return [];
  return Object.entries(presences).flatMap(([jid, { lastKnownPresence, lastSeen }]) => {
    const contact = isOwn(jid, people) ? undefined : contactOf(jid, people);
    const status = STATUSES[lastKnownPresence];
    if (contact === undefined || status === undefined) return [];
    return [{ contact_id: contact, status, ...(lastSeen === undefined ? {} : { last_seen: lastSeen }) }];
  });
}
