import type { PersonPair } from '@dormouse/message-store/write';
import type { Addition } from '../convert/addition.js';
import { betterCopyFromNetwork } from '../convert/better-copy.js';
import { chatFromHistory } from '../convert/chat.js';
import { contactFromNetwork } from '../convert/contact.js';
import { personContactId, readJid, type KnownNumbers } from '../convert/jid.js';
import { messageFromHistory } from '../convert/history-message.js';
import type { LidNumber, NetworkEvents } from '../socket/network-events.js';
import { mergePeople } from './contacts.js';
import { convertEach, type InboundContext } from './inbound-context.js';
import { resolveLids } from './resolve-lids.js';

/** How many items are stored together at most; commands of the channel write between two batches. */
const BATCH = 200;

/** What the phone knew before the link. It is stored without events: no webhook is flooded with old messages. */
export async function handleHistory(inbound: InboundContext, history: NetworkEvents['history']): Promise<void> {
  const { contacts, chats, messages, lidPnMappings = [] } = history;
  const pairs = pairsOf(lidPnMappings);
  const known = new Map(pairs.map(({ lid, phone }) => [lid, phone]));
  const sameAs = pairs.map(({ lid, phone }) => ({ id: `${phone}@s.whatsapp.net`, lid: `${lid}@lid` }));
  await inBatches(inbound, [...contacts, ...sameAs], known, (some, numbers) => ({
    contacts: convertEach(inbound, some, (contact) => contactFromNetwork(contact, numbers)),
  }));
  for (let at = 0; at < pairs.length; at += BATCH) await mergePeople(inbound, pairs.slice(at, at + BATCH));
  const newestLast = [...messages].reverse();
  const copies: Addition[] = [];
  await inBatches(inbound, newestLast, known, (some, numbers) => {
    const people = { own: inbound.session.identity, numbers };
    const records = convertEach(inbound, some, (message) => {
      const copy = betterCopyFromNetwork(message, people);
      if (copy) copies.push(copy);
      return copy ? undefined : messageFromHistory(message, people);
    });
    return { messages: records };
  });
  for (const copy of copies) await storeBetterCopy(inbound, copy);
  await inBatches(inbound, chats, known, (some, numbers) => ({
    chats: convertEach(inbound, some, (chat) => chatFromHistory(chat, numbers)),
  }));
}

/** What it is a copy of may be stored, or come with a later part of the history. */
async function storeBetterCopy({ session, queue, writer }: InboundContext, copy: Addition): Promise<void> {
  const { fence, channelId } = session;
  const first = await queue.store(() => writer.findInChat(channelId, copy.target));
  const { record, action } = copy.read(first) ?? {};
  const messages = [record ?? action?.trigger].flatMap((message) => message ?? []);
  const changes = action?.change ? [action.change] : [];
  if (messages.length > 0) await queue.store(() => writer.recordHistory(fence, channelId, { messages, changes }));
}

function pairsOf(mappings: readonly LidNumber[]): PersonPair[] {
  return mappings.flatMap(({ lid, pn }) => {
    const phone = personContactId([pn]);
    const user = readJid(lid)?.user;
    return phone === undefined || user === undefined ? [] : [{ lid: user, phone }];
  });
}

type Stored = Parameters<InboundContext['writer']['recordHistory']>[2];

async function inBatches<Item>(
  { session, queue, writer }: InboundContext,
  items: readonly Item[],
  known: KnownNumbers,
  convert: (some: readonly Item[], numbers: KnownNumbers) => Stored,
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    const some = items.slice(at, at + BATCH);
    const { numbers } = await queue.store(() => resolveLids(session, some, known));
    const batch = convert(some, numbers);
    await queue.store(() => writer.recordHistory(session.fence, session.channelId, batch));
  }
}
