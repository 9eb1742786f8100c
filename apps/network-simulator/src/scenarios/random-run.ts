import { setImmediate, setTimeout } from 'node:timers/promises';
import { requestResendFromAuthor } from '../phones/incoming.js';
import type { Simulator } from '../simulator.js';
import { parseJid } from '../wire/jid.js';
import { requestFromOwnPhone, hasShown, type RequestedMessage } from './own-phone-requests.js';
import type { Client } from './client.js';
import { emptyAt, findings, type Faulted, type RandomFindings } from './random-check.js';
import { FaultRefused, misbehave } from './random-faults.js';
import type { Kind } from './random-contents.js';
import { RandomFiles } from './random-files.js';
import type { RandomHistory } from './random-history.js';
import { RandomMessages } from './random-messages.js';
import { RandomPeople, seeded, type Person } from './random-people.js';

const LOOK_EVERY_MS = 100;
const ASK_ROUNDS = 3;
const AT_ONCE = 4;

export interface RandomPlan {
  seed: number;
  /** People with a linked client. */
  clients: number;
  /** People with a phone only. */
  phones: number;
  operations: number;
  /** Stops early after this long. */
  limitMs: number;
  /** How long what is under way may take to arrive once the faults have ended. */
  settleMs: number;
}

export interface RandomResult extends Omit<RandomFindings, 'faulted'> {
  seed: number;
  operations: number;
  acknowledged: number;
  /** Acknowledged messages by kind. */
  kinds: Partial<Record<Kind, number>>;
  refused: number;
  /** Sends without an acknowledgement: they may have arrived or not, and are not checked. */
  unacknowledged: number;
  faults: Record<string, number>;
  relinked: number;
  /** Files that a client opened after they had expired. */
  reopened: number;
  /** Stanzas that a device had not confirmed when the time to settle was over. */
  unconfirmed: string[];
  /** What is known of each message that is named above, line by line. */
  traces: Record<string, string[]>;
}

/** Whether a run ended as it must: what nobody can deliver is counted apart, and is no finding. */
export function isClean({ missing, wrong, doubled, unreadable, unconfirmed }: RandomResult): boolean {
  return [missing, wrong, doubled, unreadable, unconfirmed].every(({ length }) => length === 0);
}

/** People who write to each other at random while the network misbehaves; then everything acknowledged must have arrived. */
export class RandomRun {
  private readonly people: RandomPeople;
  private readonly messages: RandomMessages;
  private readonly files: RandomFiles;
  private readonly faults: Record<string, number> = {};
  private relinked = 0;
  /** Faults that the control port did not take. */
  private readonly faultless: string[] = [];

  constructor(
    private readonly simulator: Simulator,
    private readonly plan: RandomPlan,
    private readonly history: RandomHistory,
  ) {
    this.people = new RandomPeople(simulator, seeded(plan.seed), history);
    this.messages = new RandomMessages(this.people);
    this.files = new RandomFiles(simulator, this.people, this.messages.sent);
  }

  /** @param progress called now and then with the number of operations done */
  async run(progress: (operations: number) => void = () => undefined): Promise<RandomResult> {
    await this.people.populate(this.plan.clients, this.plan.phones);
    const startMs = Date.now();
    const deadline = startMs + this.plan.limitMs;
    const pending = new Set<Promise<void>>();
    let done = 0;
    for (; done < this.plan.operations && Date.now() < deadline; done++) {
      const job: Promise<void> = this.operation()
        // What cannot be done because a line is cut is part of it.
        .catch((error: unknown) => {
          if (error instanceof FaultRefused) this.faultless.push(error.message);
        })
        .finally(() => pending.delete(job));
      pending.add(job);
      // Several things happen at once, but not everything.
      if (pending.size >= AT_ONCE) await Promise.race(pending);
      // Sockets get their turn even when what was done needed none.
      await setImmediate();
      if (done % 500 === 499) progress(done + 1);
    }
    await Promise.all(pending);
    const unconfirmed = await this.settle();
    await this.files.lastLook();
    const { all } = this.people;
    // Ending a client brings out what it holds back, so nothing has to be waited for afterwards.
    for (const { client } of all) await client?.end();
    const { sent, refused, unacknowledged } = this.messages;
    const { faulted, ...found } = await findings(this.simulator.network, this.people, this.messages);
    const kinds: Partial<Record<Kind, number>> = {};
    for (const { kind } of sent) kinds[kind] = (kinds[kind] ?? 0) + 1;
    return {
      seed: this.plan.seed,
      operations: done,
      acknowledged: sent.length,
      kinds,
      refused,
      unacknowledged,
      faults: this.faults,
      relinked: this.relinked,
      reopened: this.files.reopened,
      unconfirmed,
      ...found,
      wrong: [...found.wrong, ...this.files.wrong, ...this.faultless],
      traces: this.traces(faulted, startMs),
    };
  }

  private async operation(): Promise<void> {
    const { people, messages } = this;
    const dice = people.random();
    if (dice < 0.4) await messages.sendAsClient();
    else if (dice < 0.7) await messages.sendAsPhone();
    else if (dice < 0.76) await this.readAtPhone();
    else if (dice < 0.8) await this.readAtClient();
    else if (dice < 0.82) people.changeMembers();
    else if (dice < 0.825) people.newGroup(people.some(people.all, 0.3));
    else if (dice < 0.875) await people.whileAway(people.pick(people.all), (client) => client.end());
    else if (dice < 0.88) await this.relink();
    else if (dice < 0.885) await people.comeBack();
    else {
      const { simulator, files, history } = this;
      const kind = await misbehave({ simulator, people, files, history });
      if (kind !== undefined) this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    }
  }

  /** What is known of each message that is not as it should be. */
  private traces(faulted: readonly Faulted[], startMs: number): Record<string, string[]> {
    const readers = new Map<string, Person[]>();
    for (const { id, person } of faulted) readers.set(id, [...(readers.get(id) ?? []), person]);
    return Object.fromEntries([...readers].map(([id, people]) => [id, this.trace(id, people, startMs)]));
  }

  private trace(id: string, readers: readonly Person[], startMs: number): string[] {
    const { author, client, chat = '', fromMs = startMs } = this.messages.begun.get(id) ?? {};
    const sent = this.messages.sent.find((one) => one.id === id);
    const by = author && `${author.phone.account.phone}${client ? ` by ${client.jid}` : ''}`;
    const numbers = [...(author ? [author] : []), ...readers].map(({ phone }) => phone.account.phone);
    const acked = sent ? `${sent.kind}, acknowledged after ${sent.untilMs - fromMs} ms` : 'not acknowledged';
    const heading = by === undefined ? 'made by no operation' : `from ${by} to ${chat}, ${acked}`;
    const seconds = ((fromMs - startMs) / 1000).toFixed(3);
    return [
      `${seconds} ${heading}; not right at ${readers.map(({ phone }) => phone.account.phone).join(', ')}`,
      ...this.history.of(this.simulator.network, id, [...new Set(numbers)], startMs),
    ];
  }

  private async relink(): Promise<void> {
    await this.people.relink(this.people.pick(this.people.online()));
    this.relinked++;
  }

  private async readAtPhone(): Promise<void> {
    const { phone } = this.people.pick(this.people.all);
    const chat = this.people.pick(phone.messages.chats());
    phone.read(chat);
    phone.play(chat);
    await phone.idle();
  }

  private async readAtClient(): Promise<void> {
    const { client } = this.people.pick(this.people.online());
    const received = client?.messages.filter(({ message }) => !message.key.fromMe && message.message).slice(-5) ?? [];
    await client?.socket.readMessages(received.map(({ message }) => message.key));
  }

  /** The faults end, everybody comes back, and everything under way arrives, or is named when the time is over. */
  private async settle(): Promise<string[]> {
    const { network } = this.simulator;
    for (const { id } of network.faults.all()) network.faults.remove(id);
    const deadline = Date.now() + this.plan.settleMs;
    // What a device confirmed on a dying connection is sent again at its next login.
    for (const person of this.people.all) await this.people.whileAway(person, (client) => client.end());
    for (let round = 0; round < ASK_ROUNDS; round++) {
      const waiting = await this.quiet(deadline);
      if (waiting.length > 0) return waiting;
      const requested = this.requestResendsAsPhones();
      if (!(await this.requestResendsAsClients()) && !requested) break;
    }
    return this.quiet(deadline);
  }

  /** What arrives last may cause a receipt or a copy: it is over when nothing came up between some looks. */
  private async quiet(deadline: number): Promise<string[]> {
    for (let quiet = 0; quiet < 3;) {
      for (const { client } of this.people.all) if (client && !client.online) await client.reconnect();
      for (const { phone } of this.people.all) await phone.idle();
      const waiting = this.unconfirmed();
      if (Date.now() > deadline) return waiting;
      quiet = waiting.length === 0 ? quiet + 1 : 0;
      await setTimeout(LOOK_EVERY_MS);
    }
    return [];
  }

  /**
   * A client that was cut off while it requested another copy does not request it again by itself, and never what its library
   * has read and dropped: it requests that of its own phone. False when there is nothing.
   */
  private async requestResendsAsClients(): Promise<boolean> {
    const asking = this.people.all.flatMap((person) => {
      const { client } = person;
      if (!client) return [];
      const empty = emptyAt(client).filter(({ key }) => this.messages.begun.has(key.id ?? ''));
      return [...empty, ...this.refusedBy(person, client)].map((message) => requestFromOwnPhone(client, message));
    });
    await Promise.all(asking);
    return asking.length > 0;
  }

  /** What a client refused for good and does not show. */
  private refusedBy(person: Person, client: Client): RequestedMessage[] {
    const { account } = person.phone;
    const { device } = parseJid(client.jid);
    return this.simulator.network.givenUp.flatMap((refusal) => {
      const { id } = refusal;
      const begun = this.messages.begun.get(id);
      if (refusal.phone !== account.phone || refusal.device !== device || !begun || hasShown(client, id)) return [];
      const { author, chat } = begun;
      const fromMe = author === person;
      const { lidJid } = author.phone.account;
      const inGroup = chat.endsWith('@g.us');
      const key = { id, fromMe, remoteJid: inGroup || fromMe ? chat : lidJid, ...(inGroup && { participant: lidJid }) };
      return [{ key }];
    });
  }

  /**
   * A client that was cut off, or refused an answer, while it made another copy does not try by itself again: the phones
   * request once more what they still cannot read. False when there is nothing.
   */
  private requestResendsAsPhones(): boolean {
    let requested = false;
    for (const { phone } of this.people.all) {
      for (const id of phone.unreadable.keys()) {
        const { author, client, chat } = this.messages.begun.get(id) ?? {};
        if (!author || chat === undefined || (client && client !== author.client)) continue;
        const device = client ? parseJid(client.jid).device : 0;
        requestResendFromAuthor(phone, { id, author: { account: author.phone.account, device }, chat });
        requested = true;
      }
    }
    return requested;
  }

  private unconfirmed(): string[] {
    return this.people.all.flatMap(({ phone: { account } }) =>
      [...account.devices.values()].flatMap(({ id, queue }) =>
        queue.all().map(({ tag, attrs }) => `${account.phone}:${id} ${tag} ${JSON.stringify(attrs)}`),
      ),
    );
  }
}
