import { randomBytes } from 'node:crypto';
import { parseJid } from '../wire/jid.js';
import type { Client } from './client.js';
import {
  contentOf,
  draftOf,
  POLL_OPTIONS,
  pollSecret,
  voteOf,
  type Kind,
  type Plan,
  type Reader,
  type Sent,
} from './random-contents.js';
import type { Person, RandomPeople } from './random-people.js';

const EMOJIS = ['👍', '🎉', '❤️'];
/** What can be done to which kinds of messages. */
const CHANGED_BY: Partial<Record<Kind, readonly Kind[]>> = {
  reaction: ['text', 'file'],
  vote: ['poll'],
  edit: ['text'],
  deletion: ['text', 'file'],
};

/** Where a message came from. */
export interface Begun {
  author: Person;
  /** The client that wrote it; the phone did when absent. */
  client?: Client;
  chat: string;
  fromMs: number;
  kind: Kind;
  /** The message that this one changes. */
  target?: Sent | undefined;
}

/** Writes at random, as clients and as phones, and records what was acknowledged and who has to get it. */
export class RandomMessages {
  readonly sent: Sent[] = [];
  /** How each message was begun, acknowledged or not, by id. */
  readonly begun = new Map<string, Begun>();
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
    const readers = this.readers(author, plan, client);
    const id = client.newId();
    this.begun.set(id, begunOf(plan, author, startedMs, client));
    const acked = client.acknowledged(id);
    await this.write(client, author, plan, id).catch(() => undefined);
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
    this.begun.set(id, begunOf(plan, author, startedMs));
    this.keep(id, plan, author, readers, startedMs, false);
  }

  private async write(client: Client, author: Person, plan: Plan, id: string): Promise<void> {
    if (plan.kind === 'vote') await client.relay(plan.chat, voteOf(plan, author, client), id);
    else await client.send(plan.chat, contentOf(plan), { messageId: id });
  }

  private readers(author: Person, { to }: Plan, by?: Client): Reader[] {
    const queue = by && author.phone.account.devices.get(parseJid(by.jid).device)?.queue;
    const isUnawareOfDevice = new Set(
      queue?.all().flatMap(({ attrs }) => (attrs['type'] === 'devices' ? [attrs['from']] : [])) ?? [],
    );
    return [...to, author].map((person) => ({
      person,
      client: person.client,
      isUnawareOfDevice: isUnawareOfDevice.has(person.phone.account.phoneJid),
    }));
  }

  private keep(id: string, plan: Plan, author: Person, readers: Reader[], startedMs: number, byClient: boolean): void {
    const { group, kind, text, chat, bytes, target } = plan;
    // Who was taken out of the group meanwhile may have got it or not.
    const stayed = readers.filter(
      ({ person }) => !group || (group.has(person.phone.account.lid) && !this.people.wasOut(group, person, startedMs)),
    );
    const own = byClient ? stayed.filter(({ person }) => person !== author) : stayed;
    if (byClient) own.push({ person: author, client: undefined, isUnawareOfDevice: false });
    this.sent.push({
      id,
      kind,
      text,
      chat,
      author,
      byClient,
      readers: own,
      fromMs: startedMs,
      untilMs: Date.now(),
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
    const kind = dice < 0.1 ? 'file' : dice < 0.16 ? 'poll' : 'text';
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

  /** A reaction to, a vote on, an edit or a deletion of a message that everybody still in its chat has to have. */
  private change(author: Person, byClient: boolean, text: string): Plan | undefined {
    const dice = this.people.random();
    const kind = dice < 0.4 ? 'reaction' : dice < 0.6 ? 'vote' : dice < 0.85 ? 'edit' : 'deletion';
    const target = this.people.pick([undefined, ...this.targets(author, byClient, kind)].slice(-20));
    if (!target) return undefined;
    if (kind === 'edit' || kind === 'deletion') target.changed = true;
    const group = this.people.groups.find(({ jid }) => jid === target.chat);
    const to = target.readers.map(({ person }) => person).filter((person) => person !== author);
    const others = group ? this.people.members(group).filter((person) => person !== author) : [target.author, ...to];
    return {
      kind,
      text: kind === 'reaction' ? this.people.pick(EMOJIS) : kind === 'vote' ? this.people.pick(POLL_OPTIONS) : text,
      chat: author === target.author || group ? target.chat : target.author.phone.account.phoneJid,
      group,
      to: [...new Set(others)].filter((person) => person !== author),
      target,
    };
  }

  private targets(author: Person, byClient: boolean, kind: Kind): Sent[] {
    return this.sent.slice(-200).filter((sent) => {
      if (!CHANGED_BY[kind]?.includes(sent.kind)) return false;
      const group = this.people.groups.find(({ jid }) => jid === sent.chat);
      if (group && !group.has(author.phone.account.lid)) return false;
      if (author.phone.messages.get(sent.id) === undefined) return false;
      if (kind === 'edit' || kind === 'deletion') {
        return sent.author === author && sent.byClient === byClient && sent.changed !== true;
      }
      // Only once, because of two at the same time nobody knows which one lasts.
      const again = this.sent.some((other) => other.target === sent && other.author === author && other.kind === kind);
      if (again || !sent.readers.some(({ person }) => person === author)) return false;
      return kind !== 'vote' || !byClient || (author.client !== undefined && !!pollSecret(author.client, sent.id));
    });
  }
}

function begunOf({ chat, kind, target }: Plan, author: Person, fromMs: number, client?: Client): Begun {
  return { author, chat, fromMs, kind, target, ...(client && { client }) };
}
