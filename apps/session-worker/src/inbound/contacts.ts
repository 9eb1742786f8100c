/** Who people are: their names, and which LID and which number are the same person. */
import type { ContactRecord, PersonPair } from '@dormouse/message-store/write';
import { contactFromNetwork } from '../convert/contact.js';
import { personContactId, readJid, type KnownNumbers } from '../convert/jid.js';
import type { ContactChange, LidNumber } from '../socket/network-events.js';
import type { OpenSession } from '../socket/open-session.js';
import { convertEach, storeAndTell, type Hearing } from './hearing.js';
import { peopleIn } from './people-in.js';
import { hearPictures } from './pictures.js';

/** More than this at once is an address book: stored in pieces, so that others write in between. */
const BATCH = 200;

export async function hearContacts(hearing: Hearing, contacts: readonly ContactChange[]): Promise<void> {
  for (let at = 0; at < contacts.length; at += BATCH) {
    const some = contacts.slice(at, at + BATCH);
    const { numbers } = await hearing.ear.store(() => peopleIn(hearing.session, some));
    const records = convertEach(hearing, some, (contact) => contactFromNetwork(contact, numbers));
    await storeContacts(hearing, records);
    await mergePeople(hearing, pairsIn(records));
    hearPictures(hearing, some, numbers);
  }
}

/** A LID's number became known. */
export async function hearLidNumber(hearing: Hearing, { lid, pn }: LidNumber): Promise<void> {
  const phone = personContactId([pn]);
  const user = readJid(lid)?.user;
  if (phone !== undefined && user !== undefined) await mergePeople(hearing, [{ lid: user, phone }]);
}

/** What was stored under these LIDs is the numbers' from now on. */
export async function mergePeople(hearing: Hearing, pairs: readonly PersonPair[]): Promise<void> {
  if (pairs.length === 0) return;
  const { fence, channelId } = hearing.session;
  await storeAndTell(hearing, () => hearing.chats.mergePeople(fence, channelId, pairs));
}

/** Pairs that each session has looked after already. */
const lookedAfter = new WeakMap<OpenSession, Set<string>>();

/** Pairs that came along with something heard: the first time one is seen, what is stored under its LID moves. */
export async function learnPeople(hearing: Hearing, numbers: KnownNumbers): Promise<void> {
  const seen = lookedAfter.get(hearing.session) ?? new Set<string>();
  lookedAfter.set(hearing.session, seen);
  const pairs = [...numbers].map(([lid, phone]) => ({ lid, phone })).filter(({ lid }) => !seen.has(lid));
  await mergePeople(hearing, pairs);
  for (const { lid } of pairs) seen.add(lid);
}

function pairsIn(records: readonly ContactRecord[]): PersonPair[] {
  return records.flatMap(({ id, lid }) => (lid === undefined || id.includes('@') ? [] : [{ lid, phone: id }]));
}

async function storeContacts(hearing: Hearing, records: readonly ContactRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { session, ear, writer, chats, settled } = hearing;
  const { fence, channelId } = session;
  if (settled) await storeAndTell(hearing, () => chats.recordContacts(fence, channelId, records));
  else await ear.store(() => writer.recordHistory(fence, channelId, { contacts: records }));
}
