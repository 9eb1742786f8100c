import { decryptPollVote, WAMessageStubType, type proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { attachmentOf, download } from '../phones/attachments.js';
import { decodeContent, encodeContent } from '../phones/content.js';
import type { PhoneMessage } from '../phones/message-log.js';
import { optionHash } from '../phones/sealed.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import type { Client } from './client.js';
import { pollSecret, type Reader, type Sent } from './random-contents.js';
import { excuseOf, type Excused } from './random-excuses.js';
import type { RandomMessages } from './random-messages.js';
import type { Person, RandomPeople } from './random-people.js';

const { CIPHERTEXT } = WAMessageStubType;

/** A message, and somebody with whom it is not as it should be. */
export interface Faulted {
  id: string;
  person: Person;
}

export interface RandomFindings extends Excused {
  /** Acknowledged messages that a reader does not have. */
  missing: string[];
  /** Messages that a client showed twice although no copy had been requested. */
  doubled: string[];
  /** Messages that do not look at a reader's phone as their edit, deletion, reaction or vote left them, or whose file is not its own. */
  wrong: string[];
  /** Ids that a phone still cannot read. */
  unreadable: string[];
  /** Messages that a client does not have because it refused them for good itself (their key had been used already). */
  givenUp: string[];
  /** Copies that a client did not make because it had not been notified of the new device yet. */
  unawareOfDevice: number;
  /**
   * What clients requested of their own phones and the phones cannot read: the library makes no other copy of it. What was requested
   * for is looked at all the same.
   */
  unreadPeerRequests: string[];
  /** What is not as it should be, and what was given up: to be traced. */
  faulted: Faulted[];
}

/** The contents that a client has shown, by id. */
function contentsShownBy(client: Client): Map<string, proto.IMessage> {
  return new Map(
    client.messages.flatMap(({ message: { key, message } }) => (message ? [[key.id ?? '', message] as const] : [])),
  );
}

/** Messages that a client shows without their content: it got a placeholder, or could not read them. */
export function emptyAt(client: Client): WAMessage[] {
  const contents = contentsShownBy(client);
  const empty = client.messages.flatMap(({ message }) =>
    message.messageStubType === CIPHERTEXT && !contents.has(message.key.id ?? '') ? [message] : [],
  );
  return [...new Map(empty.map((message) => [message.key.id, message])).values()];
}

/** Compares what was acknowledged with what phones have and what clients have shown. */
export async function findings(
  network: Network,
  people: RandomPeople,
  messages: RandomMessages,
): Promise<RandomFindings> {
  const { sent, begun } = messages;
  const shown = new Map(
    people.all.flatMap(({ client }) => (client ? [[client, contentsShownBy(client)] as const] : [])),
  );
  const changes = new Map<Sent, Sent[]>();
  for (const one of sent) if (one.target) changes.set(one.target, [...(changes.get(one.target) ?? []), one]);
  const found: RandomFindings = { ...nothing(), ...remainder(network, people, messages) };
  const { faulted, missing, wrong } = found;
  /** A client that gets a message and its deletion in one go shows the deletion alone. */
  const deletionsOf = (one: Sent): string[] =>
    [...begun].flatMap(([id, { kind, target }]) => (kind === 'deletion' && target === one ? [id] : []));
  const miss = (one: Sent, person: Person, where: string): void => {
    faulted.push({ id: one.id, person });
    const excuse = excuseOf(network, people, begun.get(one.id), { ...one, person });
    if (excuse) found[excuse]++;
    else missing.push(name(one, person) + where);
  };
  const checkClient = (one: Sent, { person, client, isUnawareOfDevice }: Reader): void => {
    // Only a client that is still linked.
    const seen = client && client === person.client ? shown.get(client) : undefined;
    if (!client || !seen) return;
    const content = seen.get(one.id);
    if (content && one.kind === 'vote' && !opensVote(client, one, content)) {
      wrong.push(`${name(one, person)}: a client cannot open the vote`);
    }
    if (content || deletionsOf(one).some((id) => seen.has(id))) return;
    if (isUnawareOfDevice) found.unawareOfDevice++;
    else if (droppedOnCutLine(network, one, person)) {
      found.givenUp.push(name(one, person));
      faulted.push({ id: one.id, person });
    } else miss(one, person, ', client');
  };
  for (const one of sent) {
    for (const reader of one.readers) {
      const message = reader.person.phone.messages.get(one.id);
      if (!message) miss(one, reader.person, '');
      else {
        const faults = await faultsOf(network, message, one, reader.person, changes.get(one) ?? []);
        wrong.push(...faults);
        if (faults.length > 0) faulted.push({ id: one.id, person: reader.person });
      }
      checkClient(one, reader);
    }
  }
  return found;
}

function nothing() {
  return {
    missing: [],
    wrong: [],
    givenUp: [],
    lostWhileUnknown: 0,
    lostWithDevice: 0,
    lostWithGroup: 0,
    unawareOfDevice: 0,
  };
}

/**
 * Whether a client refused a message for good because its library had read it, could not confirm it on a line that was cut
 * by then, and dropped its content: when it comes again, its key has been used.
 */
function droppedOnCutLine(network: Network, { id, fromMs }: Sent, { phone: { account } }: Person): boolean {
  const refusal = network.givenUp.find((one) => one.phone === account.phone && one.id === id);
  return network.connections.log.some(({ phone, event, at }) => {
    const atMs = Date.parse(at);
    return phone === account.phone && event !== 'open' && atMs >= fromMs && atMs <= (refusal?.atMs ?? 0);
  });
}

/** What phones cannot read and clients showed twice, acknowledged or not. */
function remainder(
  network: Network,
  people: RandomPeople,
  { begun }: RandomMessages,
): Pick<RandomFindings, 'unreadable' | 'unreadPeerRequests' | 'doubled' | 'faulted'> {
  const unread = people.all.flatMap((person) =>
    [...person.phone.unreadable].map(([id, { isPeerRequest }]) => ({ id, person, isPeerRequest })),
  );
  const unreadable = unread.filter(({ id, person, isPeerRequest }) => {
    const { fromMs = Infinity } = begun.get(id) ?? {};
    return !isPeerRequest && !excuseOf(network, people, begun.get(id), { id, person, fromMs, untilMs: Infinity });
  });
  const doubled = people.all.flatMap((person) =>
    (person.client?.doubled() ?? []).filter((id) => !network.resendsRequested.has(id)).map((id) => ({ id, person })),
  );
  return {
    unreadable: unreadable.map(({ id }) => id),
    unreadPeerRequests: unread.flatMap(({ id, isPeerRequest }) => (isPeerRequest ? [id] : [])),
    doubled: doubled.map(({ id }) => id),
    faulted: [...unread, ...doubled],
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
    const directPath = network.media.renew(attachment?.directPath ?? '');
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
