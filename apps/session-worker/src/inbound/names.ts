/** Names and states of chats, contacts and groups, as they become known. */
import type { ChatRecord, ContactRecord } from '@dormouse/message-store/write';
import type { ChatUpdate, Contact, GroupMetadata, LIDMapping } from '@whiskeysockets/baileys';
import { chatFromUpdate } from '../convert/chat.js';
import { contactFromNetwork } from '../convert/contact.js';
import { chatIdOfKey, personContactId, readJid } from '../convert/jid.js';
import type { Hearing } from './hearing.js';
import { peopleIn } from './people-in.js';

export async function hearContacts(hearing: Hearing, contacts: readonly Partial<Contact>[]): Promise<void> {
  const people = await hearing.ear.store(() => peopleIn(hearing.session, contacts));
  await storeContacts(
    hearing,
    contacts.flatMap((contact) => contactFromNetwork(contact, people.numbers) ?? []),
  );
}

/** A LID's number became known. */
export async function hearLidNumber(hearing: Hearing, { lid, pn }: LIDMapping): Promise<void> {
  const id = personContactId([pn]);
  const user = readJid(lid)?.user;
  if (id !== undefined && user !== undefined) await storeContacts(hearing, [{ id, lid: user }]);
}

export async function hearChats(hearing: Hearing, chats: readonly ChatUpdate[]): Promise<void> {
  const people = await hearing.ear.store(() =>
    peopleIn(
      hearing.session,
      chats.map(({ id }) => id),
    ),
  );
  await storeChats(
    hearing,
    chats.flatMap((chat) => chatFromUpdate(chat, people.numbers) ?? []),
  );
}

export async function hearGroups(hearing: Hearing, groups: readonly Partial<GroupMetadata>[]): Promise<void> {
  await storeChats(
    hearing,
    groups.flatMap(({ id, subject }) => {
      const chatId = chatIdOfKey({ remoteJid: id });
      return chatId !== undefined && subject ? [{ id: chatId, name: subject }] : [];
    }),
  );
}

async function storeContacts({ ear, session, writer }: Hearing, contacts: readonly ContactRecord[]): Promise<void> {
  if (contacts.length === 0) return;
  await ear.store(() => writer.recordContacts(session.fence, session.channelId, contacts));
}

async function storeChats({ ear, session, writer }: Hearing, chats: readonly ChatRecord[]): Promise<void> {
  if (chats.length === 0) return;
  await ear.store(() => writer.recordChats(session.fence, session.channelId, chats));
}
