import type { BaileysEventMap } from '@whiskeysockets/baileys';
import { chatFromHistory } from '../convert/chat.js';
import { contactFromNetwork } from '../convert/contact.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import { convertEach, type Hearing } from './hearing.js';
import { peopleIn } from './people-in.js';

/** So many items are stored together; commands of the channel write between two batches. */
const BATCH = 200;

/** What the phone knew before the link. It is stored, not told: no webhook is flooded by old messages. */
export async function hearHistory(hearing: Hearing, history: BaileysEventMap['messaging-history.set']): Promise<void> {
  const { contacts, chats, messages, lidPnMappings = [] } = history;
  const pairs = lidPnMappings.map(({ lid, pn }) => ({ lid, pn }));
  await inBatches(hearing, [...contacts, ...pairs.map(({ lid, pn }) => ({ id: pn, lid }))], pairs, (some, numbers) => ({
    contacts: convertEach(hearing, some, (contact) => contactFromNetwork(contact, numbers)),
  }));
  const newestLast = [...messages].reverse();
  await inBatches(hearing, newestLast, pairs, (some, numbers) => {
    const people = { own: hearing.session.identity, numbers };
    return { messages: convertEach(hearing, some, (message) => messageFromNetwork(message, people)) };
  });
  await inBatches(hearing, chats, pairs, (some, numbers) => ({
    chats: convertEach(hearing, some, (chat) => chatFromHistory(chat, numbers)),
  }));
}

type Stored = Parameters<Hearing['writer']['recordHistory']>[2];

async function inBatches<Item>(
  { session, ear, writer }: Hearing,
  items: readonly Item[],
  pairs: readonly { lid: string; pn: string }[],
  convert: (some: readonly Item[], numbers: ReadonlyMap<string, string>) => Stored,
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    const some = items.slice(at, at + BATCH);
    const { numbers } = await ear.store(() => peopleIn(session, [some, pairs]));
    const batch = convert(some, numbers);
    await ear.store(() => writer.recordHistory(session.fence, session.channelId, batch));
  }
}
