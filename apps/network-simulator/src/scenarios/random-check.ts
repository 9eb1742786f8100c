import type { Network } from '../network/network.js';
import { download } from '../phone/attachments.js';
import type { PhoneMessage } from '../phone/message-log.js';
import type { Client } from './client.js';
import type { Reader, Sent } from './random-messages.js';
import type { Person } from './random-people.js';

export interface RandomFindings {
  /** Acknowledged messages that a reader does not have. */
  missing: string[];
  /** Messages that a client showed twice although nobody had asked for them again. */
  doubled: string[];
  /** Messages that do not look at a reader's phone as their edit, deletion or reaction left them, or whose file is not its own. */
  wrong: string[];
  /** Ids that a phone still cannot read. */
  unreadable: string[];
  /** Messages that a client itself refused for good (a key it had used before its line was cut). */
  givenUp: number;
  /** Placeholders that a client could not get filled, because its line was cut while it asked. */
  unfilled: number;
}

/** What every client has shown, by id; a placeholder does not count as shown. */
function shownBy(client: Client): { ids: Set<string>; placeholders: Set<string> } {
  const ids = new Set<string>();
  const placeholders = new Set<string>();
  for (const { message } of client.messages) {
    const id = message.key.id ?? '';
    if (message.message) ids.add(id);
    else if (message.messageStubType) placeholders.add(id);
  }
  return { ids, placeholders };
}

/** Compares what was acknowledged with what phones have and what clients have shown. */
export async function findings(
  network: Network,
  people: readonly Person[],
  sent: readonly Sent[],
): Promise<RandomFindings> {
  const refusedForGood = new Set(network.givenUp.map(({ phone, id }) => `${phone}|${id}`));
  const clients = people.flatMap(({ client }) => client ?? []);
  const shown = new Map(clients.map((client) => [client, shownBy(client)]));
  const missing: string[] = [];
  const wrong: string[] = [];
  let unfilled = 0;
  const missingAtClient = (one: Sent, { person, client }: Reader): void => {
    // Only a client that is still linked, and that the author knew of.
    const seen = client && client === person.client ? shown.get(client) : undefined;
    if (!seen || (person.relinked && one.byClient) || seen.ids.has(one.id)) return;
    if (refusedForGood.has(`${person.phone.account.phone}|${one.id}`)) return;
    if (seen.placeholders.has(one.id)) unfilled++;
    else missing.push(`${name(one, person)}, client`);
  };
  for (const one of sent) {
    for (const reader of one.readers) {
      const message = reader.person.phone.messages.get(one.id);
      if (!message) missing.push(name(one, reader.person));
      else wrong.push(...(await faultsOf(network, message, one, reader.person, sent)));
      missingAtClient(one, reader);
    }
  }
  return {
    missing,
    wrong,
    doubled: clients.flatMap((client) => client.doubled().filter((id) => !network.askedAgain.has(id))),
    unreadable: people.flatMap(({ phone }) => [...phone.unreadable.keys()]),
    givenUp: refusedForGood.size,
    unfilled,
  };
}

const name = ({ id, kind, text }: Sent, { phone }: Person): string =>
  `${kind} ${id} (${text}) at ${phone.account.phone}`;

/** What is wrong with a message at a phone, when everything that changes it and was acknowledged is taken into account. */
async function faultsOf(
  network: Network,
  message: PhoneMessage,
  one: Sent,
  reader: Person,
  sent: readonly Sent[],
): Promise<string[]> {
  const changes = sent.filter(
    ({ target, readers }) => target === one && readers.some(({ person }) => person === reader),
  );
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(`${name(one, reader)}: ${what}`);
  };
  for (const { kind, text, author } of changes) {
    if (kind === 'deletion') expect(message.deleted === true, 'not deleted');
    if (kind === 'edit') expect(message.text === text, `not edited to ${text}`);
    if (kind === 'reaction') expect(message.reactions?.[author.phone.account.phoneJid] === text, `no reaction ${text}`);
  }
  if (one.kind === 'text' && one.changed !== true) expect(message.text === one.text, 'other words');
  if (one.bytes && !message.deleted) {
    const { bytes } = await download(network, message);
    expect(bytes.equals(one.bytes), 'another file');
  }
  return wrong;
}
