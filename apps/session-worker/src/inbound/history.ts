import type { PersonPair } from '@dormouse/message-store/write';
import type { BaileysEventMap, LIDMapping } from '@whiskeysockets/baileys';
import { chatFromHistory } from '../convert/chat.js';
import { contactFromNetwork } from '../convert/contact.js';
import { personContactId, readJid, type KnownNumbers } from '../convert/jid.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import { mergePeople } from './contacts.js';
import { convertEach, type Hearing } from './hearing.js';
import { peopleIn } from './people-in.js';

/** So many items are stored together; commands of the channel write between two batches. */
const BATCH = 200;

/** What the phone knew before the link. It is stored, not told: no webhook is flooded by old messages. */
export async function hearHistory(hearing: Hearing, history: BaileysEventMap['messaging-history.set']): Promise<void> {
  const { contacts, chats, messages, lidPnMappings = [] } = history;
  const pairs = pairsOf(lidPnMappings);
  const known = new Map(pairs.map(({ lid, phone }) => [lid, phone]));
  const sameAs = pairs.map(({ lid, phone }) => ({ id: `${phone}@s.whatsapp.net`, lid: `${lid}@lid` }));
  await inBatches(hearing, [...contacts, ...sameAs], known, (some, numbers) => ({
    contacts: convertEach(hearing, some, (contact) => contactFromNetwork(contact, numbers)),
  }));
  for (let at = 0; at < pairs.length; at += BATCH) await mergePeople(hearing, pairs.slice(at, at + BATCH));
  const newestLast = [...messages].reverse();
  await inBatches(hearing, newestLast, known, (some, numbers) => {
    const people = { own: hearing.session.identity, numbers };
    return { messages: convertEach(hearing, some, (message) => messageFromNetwork(message, people)) };
  });
  await inBatches(hearing, chats, known, (some, numbers) => ({
    chats: convertEach(hearing, some, (chat) => chatFromHistory(chat, numbers)),
  }));
}

function pairsOf(mappings: readonly LIDMapping[]): PersonPair[] {
  return mappings.flatMap(({ lid, pn }) => {
    const phone = personContactId([pn]);
    const user = readJid(lid)?.user;
    return phone === undefined || user === undefined ? [] : [{ lid: user, phone }];
  });
}

type Stored = Parameters<Hearing['writer']['recordHistory']>[2];

async function inBatches<Item>(
  { session, ear, writer }: Hearing,
  items: readonly Item[],
  known: KnownNumbers,
  convert: (some: readonly Item[], numbers: KnownNumbers) => Stored,
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    const some = items.slice(at, at + BATCH);
    const { numbers } = await ear.store(() => peopleIn(session, some, known));
    const batch = convert(some, numbers);
    await ear.store(() => writer.recordHistory(session.fence, session.channelId, batch));
  }
}
