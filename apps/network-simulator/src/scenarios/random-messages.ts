import { randomBytes } from 'node:crypto';
import type { AnyMessageContent } from '@whiskeysockets/baileys';
import type { Group } from '../groups/group.js';
import type { Draft } from '../phone/compose.js';
import type { Person, RandomPeople } from './random-people.js';

const EMOJIS = ['👍', '🎉', '❤️'];

export type Kind = 'text' | 'file' | 'reaction' | 'edit' | 'deletion';

/** Who has to get a message: the person's phone, and the client that was linked when it was sent. */
export interface Reader {
  person: Person;
  client: Person['client'];
}

/** A message that the network acknowledged. */
export interface Sent {
  id: string;
  kind: Kind;
  /** The words of a text, the emoji of a reaction, the new words of an edit. */
  text: string;
  bytes?: Buffer;
  chat: string;
  author: Person;
  byClient: boolean;
  readers: Reader[];
  /** The message that this one changes. */
  target?: Sent;
  /** Nothing else edits or deletes a message that was edited, deleted, or may have been. */
  changed?: boolean;
}

interface Plan {
  kind: Kind;
  text: string;
  chat: string;
  group?: Group | undefined;
  to: Person[];
  bytes?: Buffer;
  target?: Sent;
}

/** Writes at random, as clients and as phones, and keeps what was acknowledged and who has to get it. */
export class RandomMessages {
  readonly sent: Sent[] = [];
  refused = 0;
  unacknowledged = 0;
  private count = 0;

  constructor(private readonly people: RandomPeople) {}

  async sendAsClient(): Promise<void> {
    const author = this.people.pick(this.people.online());
    const { client } = author;
    if (!client) return;
    const plan = this.plan(author, true);
    const startedMs = Date.now();
    const readers = this.readers(author, plan);
    const id = client.newId();
    const acked = client.acknowledged(id);
    await client.send(plan.chat, contentOf(plan), { messageId: id }).catch(() => undefined);
    const ack = await acked;
    if (ack === undefined) this.unacknowledged++;
    else if (ack['error'] !== undefined) this.refused++;
    else this.keep(id, plan, author, readers, startedMs, true);
  }

  async sendAsPhone(): Promise<void> {
    const author = this.people.pick(this.people.all);
    const plan = this.plan(author, false);
    const startedMs = Date.now();
    const readers = this.readers(author, plan);
    const { id } = await author.phone.sendDraft(plan.chat, draftOf(plan));
    this.keep(id, plan, author, readers, startedMs, false);
  }

  private readers(author: Person, { to }: Plan): Reader[] {
    return [...to, author].map((person) => ({ person, client: person.client }));
  }

  private keep(id: string, plan: Plan, author: Person, readers: Reader[], startedMs: number, byClient: boolean): void {
    const { group, kind, text, chat, bytes, target } = plan;
    // Who was taken out of the group meanwhile may have got it or not.
    const stayed = readers.filter(
      ({ person }) => !group || (group.has(person.phone.account.lid) && !this.people.wasOut(group, person, startedMs)),
    );
    const own = byClient ? stayed.filter(({ person }) => person !== author) : stayed;
    if (byClient) own.push({ person: author, client: undefined });
    this.sent.push({
      id,
      kind,
      text,
      chat,
      author,
      byClient,
      readers: own,
      ...(bytes && { bytes }),
      ...(target && { target }),
    });
  }

  /** What to write and where: mostly texts to one person, by number or by private id. */
  private plan(author: Person, byClient: boolean): Plan {
    const dice = this.people.random();
    const text = `${byClient ? 'c' : 'p'}${++this.count}`;
    if (dice > 0.65) {
      const change = this.change(author, byClient, text);
      if (change) return change;
    }
    const kind = dice < 0.1 ? 'file' : 'text';
    const where = this.people.random() < 0.3 ? this.inGroup(author) : undefined;
    return {
      kind,
      text,
      ...(kind === 'file' && { bytes: randomBytes(2000) }),
      ...(where ?? this.inChat(author)),
    };
  }

  private inGroup(author: Person): Pick<Plan, 'chat' | 'group' | 'to'> | undefined {
    const own = this.people.groups.filter((group) => group.has(author.phone.account.lid));
    if (own.length === 0) return undefined;
    const group = this.people.pick(own);
    return { chat: group.jid, group, to: this.people.members(group).filter((one) => one !== author) };
  }

  private inChat(author: Person): Pick<Plan, 'chat' | 'to'> {
    const other = this.people.pick(this.people.all.filter((one) => one !== author));
    const { account } = other.phone;
    return { chat: this.people.random() < 0.5 ? account.phoneJid : account.lidJid, to: [other] };
  }

  /** A reaction to, an edit or a deletion of a message that everybody still in its chat has to have. */
  private change(author: Person, byClient: boolean, text: string): Plan | undefined {
    const dice = this.people.random();
    const kind = dice < 0.5 ? 'reaction' : dice < 0.8 ? 'edit' : 'deletion';
    const target = this.people.pick([undefined, ...this.targets(author, byClient, kind)].slice(-20));
    if (!target) return undefined;
    if (kind !== 'reaction') target.changed = true;
    const group = this.people.groups.find(({ jid }) => jid === target.chat);
    const to = target.readers.map(({ person }) => person).filter((person) => person !== author);
    const others = group ? this.people.members(group).filter((person) => person !== author) : [target.author, ...to];
    return {
      kind,
      text: kind === 'reaction' ? this.people.pick(EMOJIS) : text,
      chat: author === target.author || group ? target.chat : target.author.phone.account.phoneJid,
      group,
      to: [...new Set(others)].filter((person) => person !== author),
      target,
    };
  }

  private targets(author: Person, byClient: boolean, kind: Kind): Sent[] {
    return this.sent.slice(-200).filter((sent) => {
      if (sent.kind !== 'text' && (sent.kind !== 'file' || kind === 'edit')) return false;
      const group = this.people.groups.find(({ jid }) => jid === sent.chat);
      if (group && !group.has(author.phone.account.lid)) return false;
      const hasIt = author.phone.messages.get(sent.id) !== undefined;
      if (kind === 'reaction') {
        const again = this.sent.some(({ target, author: by }) => target === sent && by === author);
        return hasIt && !again && sent.readers.some(({ person }) => person === author);
      }
      return hasIt && sent.author === author && sent.byClient === byClient && sent.changed !== true;
    });
  }
}

function keyOf({ id, chat, author }: Sent, reader: Person | undefined) {
  const group = chat.endsWith('@g.us');
  const fromMe = reader === author;
  return {
    id,
    remoteJid: group || fromMe ? chat : author.phone.account.phoneJid,
    fromMe,
    ...(group && { participant: author.phone.account.lidJid }),
  };
}

function contentOf({ kind, text, bytes, target }: Plan): AnyMessageContent {
  if (kind === 'file' && bytes) return { document: bytes, mimetype: 'application/octet-stream', fileName: text };
  if (!target) return { text };
  if (kind === 'reaction') return { react: { text, key: keyOf(target, undefined) } };
  const own = keyOf(target, target.author);
  return kind === 'edit' ? { text, edit: own } : { delete: own };
}

function draftOf({ kind, text, bytes, target }: Plan): Draft {
  if (kind === 'file' && bytes) return { document: { bytes, mimetype: 'application/octet-stream', fileName: text } };
  if (!target) return { text };
  if (kind === 'reaction') return { reaction: { id: target.id, emoji: text } };
  return kind === 'edit' ? { edit: { id: target.id, text } } : { delete: { id: target.id } };
}
