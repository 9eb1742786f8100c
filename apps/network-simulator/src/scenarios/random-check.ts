import { decryptPollVote, type proto } from '@whiskeysockets/baileys';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { attachmentOf, download } from '../phone/attachments.js';
import { decodeContent, encodeContent } from '../phone/content.js';
import type { PhoneMessage } from '../phone/message-log.js';
import { optionHash } from '../phone/poll-votes.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import type { Client } from './client.js';
import { pollSecret, type Reader, type Sent } from './random-contents.js';
import type { RandomMessages } from './random-messages.js';
import type { Person, RandomPeople } from './random-people.js';

export interface RandomFindings {
  /** Acknowledged messages that a reader does not have. */
  missing: string[];
  /** Messages that a client showed twice although nobody had asked for them again. */
  doubled: string[];
  /** Messages that do not look at a reader's phone as their edit, deletion, reaction or vote left them, or whose file is not its own. */
  wrong: string[];
  /** Ids that a phone still cannot read. */
  unreadable: string[];
  /** Messages that a client itself refused for good (a key it had used before its line was cut). */
  givenUp: number;
  /** Placeholders that a client could not get filled, because its line was cut while it asked. */
  unfilled: number;
  /** Copies for a number that did not exist when they were made, or made again. */
  lostWhileUnknown: number;
  /** Copies that were asked for when the device that could have made them was not linked any more. */
  lostWithDevice: number;
}

/** What every client has shown, by id; a placeholder does not count as shown. */
function shownBy(client: Client): { contents: Map<string, proto.IMessage>; placeholders: Set<string> } {
  const contents = new Map<string, proto.IMessage>();
  const placeholders = new Set<string>();
  for (const { message } of client.messages) {
    const id = message.key.id ?? '';
    if (message.message) contents.set(id, message.message);
    else if (message.messageStubType) placeholders.add(id);
  }
  return { contents, placeholders };
}

/** Compares what was acknowledged with what phones have and what clients have shown. */
export async function findings(
  network: Network,
  people: RandomPeople,
  messages: RandomMessages,
): Promise<RandomFindings> {
  const { sent, begun } = messages;
  const refusedForGood = new Set(network.givenUp.map(({ phone, id }) => `${phone}|${id}`));
  const clients = people.all.flatMap(({ client }) => client ?? []);
  const shown = new Map(clients.map((client) => [client, shownBy(client)]));
  const changes = new Map<Sent, Sent[]>();
  for (const one of sent) if (one.target) changes.set(one.target, [...(changes.get(one.target) ?? []), one]);
  const missing: string[] = [];
  const wrong: string[] = [];
  let unfilled = 0;
  let lostWhileUnknown = 0;
  let lostWithDevice = 0;
  /** Whether the number did not exist when the message, or another copy of it, was made for it. */
  const excused = (id: string, person: Person, fromMs: number, untilMs: number): boolean =>
    people.wasUnknown(person, fromMs, network.askedAgain.has(id) ? Infinity : untilMs);
  const deviceGone = (id: string): boolean => {
    const { author, client } = begun.get(id) ?? {};
    return client !== undefined && client !== author?.client && network.askedAgain.has(id);
  };
  const miss = (one: Sent, person: Person, where: string): void => {
    if (excused(one.id, person, one.fromMs, one.untilMs)) lostWhileUnknown++;
    else if (deviceGone(one.id)) lostWithDevice++;
    else missing.push(name(one, person) + where);
  };
  const checkClient = (one: Sent, { person, client }: Reader): void => {
    // Only a client that is still linked, and that the author knew of.
    const seen = client && client === person.client ? shown.get(client) : undefined;
    if (!client || !seen) return;
    const content = seen.contents.get(one.id);
    if (content && one.kind === 'vote' && !opensVote(client, one, content)) {
      wrong.push(`${name(one, person)}: a client cannot open the vote`);
    }
    if (content || (person.relinked && one.byClient)) return;
    if (refusedForGood.has(`${person.phone.account.phone}|${one.id}`)) return;
    if (seen.placeholders.has(one.id)) unfilled++;
    else miss(one, person, ', client');
  };
  for (const one of sent) {
    for (const reader of one.readers) {
      const message = reader.person.phone.messages.get(one.id);
      if (!message) miss(one, reader.person, '');
      else wrong.push(...(await faultsOf(network, message, one, reader.person, changes.get(one) ?? [])));
      checkClient(one, reader);
    }
  }
  const unreadable = people.all.flatMap((person) => [...person.phone.unreadable.keys()].map((id) => ({ id, person })));
  const remainder = unreadable.filter(
    ({ id, person }) => !deviceGone(id) && !excused(id, person, begun.get(id)?.fromMs ?? Infinity, Infinity),
  );
  return {
    missing,
    wrong,
    doubled: clients.flatMap((client) => client.doubled().filter((id) => !network.askedAgain.has(id))),
    unreadable: remainder.map(({ id }) => id),
    givenUp: refusedForGood.size,
    unfilled,
    lostWhileUnknown,
    lostWithDevice,
  };
}

const name = ({ id, kind, text }: Sent, { phone }: Person): string =>
  `${kind} ${id} (${text}) at ${phone.account.phone}`;

/** What is wrong with a message at a phone, when everything that changes it, was acknowledged and came is taken into account. */
async function faultsOf(
  network: Network,
  message: PhoneMessage,
  one: Sent,
  reader: Person,
  changes: readonly Sent[],
): Promise<string[]> {
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(`${name(one, reader)}: ${what}`);
  };
  const came = changes.filter(
    ({ id, readers }) => readers.some(({ person }) => person === reader) && reader.phone.messages.get(id),
  );
  for (const { kind, text, author } of came) {
    const by = author.phone.account.phoneJid;
    if (kind === 'deletion') expect(message.deleted === true, 'not deleted');
    if (kind === 'edit') expect(message.text === text, `not edited to ${text}`);
    if (kind === 'reaction') expect(message.reactions?.[by] === text, `no reaction ${text}`);
    if (kind === 'vote') expect(message.votes?.[by]?.join() === text, `no vote for ${text}`);
  }
  if (one.kind === 'text' && one.changed !== true) expect(message.text === one.text, 'other words');
  if (one.bytes && !message.deleted) {
    expect((await fileOf(network, message)).equals(one.bytes), 'another file');
  }
  return wrong;
}

/** The file of a message; one that expired is uploaded again under another path first. */
async function fileOf(network: Network, message: PhoneMessage): Promise<Buffer> {
  try {
    return (await download(network, message)).bytes;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 410) throw error;
    const content = decodeContent(message.content);
    const attachment = attachmentOf(content)?.attachment;
    const directPath = network.media.renew(attachment?.directPath?.replace(/\?.*$/, '') ?? '');
    if (!attachment || directPath === undefined) throw error;
    attachment.directPath = directPath;
    return (await download(network, { ...message, content: encodeContent(content) })).bytes;
  }
}

/** Whether the library finds in a vote what was voted for; a client without the poll cannot look. */
function opensVote(client: Client, { text, author, target }: Sent, content: proto.IMessage): boolean {
  const secret = target && pollSecret(client, target.id);
  const { encPayload, encIv } = content.pollUpdateMessage?.vote ?? {};
  if (!target || !secret) return true;
  if (!encPayload || !encIv) return false;
  return [LID_SERVER, PHONE_SERVER].some((server) => {
    try {
      const { selectedOptions } = decryptPollVote(
        { encPayload, encIv },
        {
          pollMsgId: target.id,
          pollEncKey: secret,
          pollCreatorJid: target.author.phone.account.jidLike(server),
          voterJid: author.phone.account.jidLike(server),
        },
      );
      return selectedOptions?.some((hash) => optionHash(text).equals(hash)) === true;
    } catch {
      return false; // made in the other naming
    }
  });
}
