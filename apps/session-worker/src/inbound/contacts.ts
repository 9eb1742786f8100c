/** Who people are: their names, and which LID and which number are the same person. */
import type { ContactRecord, PersonPair } from '@dormouse/message-store/write';
import { contactFromNetwork } from '../convert/contact.js';
import { personContactId, readJid, type KnownNumbers } from '../convert/jid.js';
import type { ContactChange, LidNumber } from '../socket/network-events.js';
import type { OpenSession } from '../socket/open-session.js';
import { convertEach, storeAndNotify, type InboundContext } from './inbound-context.js';
import { resolveLids } from './resolve-lids.js';
import { handlePictures } from './pictures.js';

/** More than this at once is an address book: stored in pieces, so that others write in between. */
const BATCH = 200;

export async function handleContacts(inbound: InboundContext, contacts: readonly ContactChange[]): Promise<void> {
  for (let at = 0; at < contacts.length; at += BATCH) {
    const some = contacts.slice(at, at + BATCH);
    const { numbers } = await inbound.queue.store(() => resolveLids(inbound.session, some));
    const records = convertEach(inbound, some, (contact) => contactFromNetwork(contact, numbers));
    await storeContacts(inbound, records);
    await mergePeople(inbound, pairsIn(records));
    handlePictures(inbound, some, numbers);
  }
}

/** A LID's number became known. */
export async function handleLidNumber(inbound: InboundContext, { lid, pn }: LidNumber): Promise<void> {
  const phone = personContactId([pn]);
  const user = readJid(lid)?.user;
  if (phone !== undefined && user !== undefined) await mergePeople(inbound, [{ lid: user, phone }]);
}

/** What was stored under these LIDs is the numbers' from now on. */
export async function mergePeople(inbound: InboundContext, pairs: readonly PersonPair[]): Promise<void> {
  if (pairs.length === 0) return;
  const { fence, channelId } = inbound.session;
  await storeAndNotify(inbound, () => inbound.chats.mergePeople(fence, channelId, pairs));
}

/** Pairs that each session has looked after already. */
const lookedAfter = new WeakMap<OpenSession, Set<string>>();

/** Pairs that came along with something received: when one is new, what is stored under its LID moves. */
export async function learnPeople(inbound: InboundContext, numbers: KnownNumbers): Promise<void> {
  const seen = lookedAfter.get(inbound.session) ?? new Set<string>();
  lookedAfter.set(inbound.session, seen);
  const pairs = [...numbers].map(([lid, phone]) => ({ lid, phone })).filter(({ lid }) => !seen.has(lid));
  await mergePeople(inbound, pairs);
  for (const { lid } of pairs) seen.add(lid);
}

function pairsIn(records: readonly ContactRecord[]): PersonPair[] {
  return records.flatMap(({ id, lid }) => (lid === undefined || id.includes('@') ? [] : [{ lid, phone: id }]));
}

async function storeContacts(inbound: InboundContext, records: readonly ContactRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { session, queue, writer, chats, settled } = inbound;
  const { fence, channelId } = session;
  if (settled) await storeAndNotify(inbound, () => chats.recordContacts(fence, channelId, records));
  else await queue.store(() => writer.recordHistory(fence, channelId, { contacts: records }));
}
