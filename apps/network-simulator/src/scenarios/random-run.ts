import { setImmediate, setTimeout } from 'node:timers/promises';
import { createGroup } from '../groups/group-members.js';
import type { Group } from '../groups/group.js';
import { scanCode } from '../network/pairing.js';
import type { Phone } from '../phone/phone.js';
import type { Simulator } from '../simulator.js';
import { Client } from './client.js';

const QUERY_TIMEOUT_MS = 8000;
const LOOK_EVERY_MS = 100;

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

export interface RandomResult {
  seed: number;
  operations: number;
  acknowledged: number;
  refused: number;
  faults: number;
  /** Acknowledged messages that a reader does not have, or has under two ids. */
  missing: string[];
  /** Messages that a client showed twice although nobody had asked for them again. */
  doubled: string[];
  /** Ids that a phone still cannot read. */
  unreadable: string[];
  /** Stanzas that a device had not confirmed when the time to settle was over. */
  unconfirmed: string[];
  /** Messages that a client itself refused for good (a key it had used before its line was cut). */
  givenUp: number;
}

interface Person {
  phone: Phone;
  client?: Client;
}

interface Sent {
  id: string;
  text: string;
  readers: Person[];
}

/** Numbers between 0 and 1 that depend on the seed only. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** People who write to each other at random while the network misbehaves; then everything acknowledged must have arrived. */
export class RandomRun {
  private readonly random: () => number;
  private readonly people: Person[] = [];
  private readonly groups: Group[] = [];
  private readonly sent: Sent[] = [];
  /** Whose client is being connected again: two sockets of one device would replace each other for ever. */
  private readonly away = new Set<Person>();
  private refused = 0;
  private faults = 0;
  private count = 0;

  constructor(
    private readonly simulator: Simulator,
    private readonly plan: RandomPlan,
  ) {
    this.random = seeded(plan.seed);
  }

  async run(): Promise<RandomResult> {
    await this.populate();
    const deadline = Date.now() + this.plan.limitMs;
    const pending: Promise<void>[] = [];
    let done = 0;
    for (; done < this.plan.operations && Date.now() < deadline; done++) {
      const job = this.operation().catch(() => undefined);
      pending.push(job);
      // Several things happen at once, but not everything.
      if (pending.length >= 4) await Promise.race([pending.shift(), Promise.all(pending)]);
      // Sockets get their turn even when what was done needed none.
      await setImmediate();
    }
    await Promise.all(pending);
    const unconfirmed = await this.settle();
    // Ending a client brings out what it holds back, so nothing has to be waited for afterwards.
    for (const { client } of this.people) await client?.end();
    return this.check(done, unconfirmed);
  }

  private async populate(): Promise<void> {
    const { network } = this.simulator;
    for (let index = 0; index < this.plan.clients + this.plan.phones; index++) {
      const phone = network.phone(network.accounts.add());
      const person: Person = { phone };
      this.people.push(person);
      if (index >= this.plan.clients) continue;
      person.client = new Client(this.simulator, {
        retryRequestDelayMs: 20,
        // A question that was cut off is not answered; the library waits a minute by itself.
        defaultQueryTimeoutMs: QUERY_TIMEOUT_MS,
      });
      await person.client.link((qr) => scanCode(network, phone.account, qr));
    }
    const [first, ...others] = this.people;
    if (first) {
      const jids = others.map(({ phone }) => phone.account.phoneJid);
      this.groups.push(createGroup(network, first.phone.account, 'Everybody', jids).group);
    }
  }

  private pick<T>(from: readonly T[]): T {
    const chosen = from[Math.floor(this.random() * from.length)];
    if (chosen === undefined) throw new Error('There is nothing to choose from.');
    return chosen;
  }

  private operation(): Promise<void> {
    const dice = this.random();
    if (dice < 0.45) return this.sendAsClient();
    if (dice < 0.75) return this.sendAsPhone();
    if (dice < 0.82) return this.read();
    if (dice < 0.88) return this.reconnect();
    return this.misbehave();
  }

  /** Where to: a person (mostly) or a group, and who must read it. */
  private target(sender: Person): { to: string; readers: Person[] } {
    if (this.random() < 0.25)
      return { to: this.pick(this.groups).jid, readers: this.people.filter((one) => one !== sender) };
    const other = this.pick(this.people.filter((one) => one !== sender));
    const { account } = other.phone;
    return { to: this.random() < 0.5 ? account.phoneJid : account.lidJid, readers: [other] };
  }

  private async sendAsClient(): Promise<void> {
    const sender = this.pick(this.people.filter(({ client }) => client?.online));
    const { client } = sender;
    if (!client) return;
    const { to, readers } = this.target(sender);
    const text = `c${++this.count}`;
    const id = client.newId();
    const acked = client.acknowledged(id);
    await client.send(to, { text }, { messageId: id }).catch(() => undefined);
    const ack = await acked;
    if (ack === undefined) return;
    if (ack['error'] !== undefined) this.refused++;
    else this.sent.push({ id, text, readers: [...readers, { phone: sender.phone }] });
  }

  private async sendAsPhone(): Promise<void> {
    const sender = this.pick(this.people);
    const { to, readers } = this.target(sender);
    const text = `p${++this.count}`;
    const { id } = await sender.phone.sendText(to, text);
    this.sent.push({ id, text, readers: sender.client ? [...readers, sender] : readers });
  }

  private async read(): Promise<void> {
    const { phone } = this.pick(this.people);
    const [chat] = phone.messages.chats();
    if (chat !== undefined) phone.read(chat);
    await phone.idle();
  }

  private reconnect(): Promise<void> {
    return this.whileAway(this.pick(this.people), (client) => client.end());
  }

  /** Breaks the line of a connected client in some way, then connects it again. */
  private async whileAway(person: Person, leave: (client: Client) => Promise<void> | void): Promise<void> {
    const { client } = person;
    if (!client?.online || this.away.has(person)) return;
    this.away.add(person);
    try {
      await leave(client);
      await client.reconnect();
    } finally {
      this.away.delete(person);
    }
  }

  private async misbehave(): Promise<void> {
    this.faults++;
    const { network } = this.simulator;
    const person = this.pick(this.people);
    const { phone } = person.phone.account;
    const dice = this.random();
    if (dice < 0.25) network.faults.add({ kind: 'corrupt-message', phone, count: 1 });
    else if (dice < 0.5) network.faults.add({ kind: 'duplicate-message', phone, count: 1 });
    else if (dice < 0.65) network.faults.add({ kind: 'delay', phone, ms: 20, jitterMs: 30, count: 20 });
    else if (dice < 0.75) network.faults.add({ kind: 'refuse-send', phone, code: 479, count: 1 });
    else {
      await this.whileAway(person, () => {
        for (const device of person.phone.account.devices.values()) device.connection?.cut();
      });
    }
  }

  /** The faults end, everybody comes back, and everything under way arrives, or is named when the time is over. */
  private async settle(): Promise<string[]> {
    const { network } = this.simulator;
    for (const { id } of network.faults.all()) network.faults.remove(id);
    const deadline = Date.now() + this.plan.settleMs;
    // What arrives last may cause a receipt or a copy: it is over when nothing came up between two looks.
    for (let quiet = 0; quiet < 3;) {
      for (const person of this.people) if (person.client && !person.client.online) await person.client.reconnect();
      for (const { phone } of this.people) await phone.idle();
      const waiting = this.unconfirmed();
      if (Date.now() > deadline) return waiting;
      quiet = waiting.length === 0 ? quiet + 1 : 0;
      await setTimeout(LOOK_EVERY_MS);
    }
    return [];
  }

  private unconfirmed(): string[] {
    return this.people.flatMap(({ phone: { account } }) =>
      [...account.devices.values()].flatMap(({ id, queue }) =>
        queue.all().map(({ tag, attrs }) => `${account.phone}:${id} ${tag} ${JSON.stringify(attrs)}`),
      ),
    );
  }

  private check(operations: number, unconfirmed: string[]): RandomResult {
    const { network } = this.simulator;
    const missing: string[] = [];
    const givenUp = new Set(network.givenUp.map(({ phone, id }) => `${phone}|${id}`));
    const shown = new Map(this.people.map(({ client }) => [client, client?.texts()]));
    for (const { id, text, readers } of this.sent) {
      for (const { phone, client } of readers) {
        const name = `${id} (${text}) at ${phone.account.phone}`;
        if (phone.messages.get(id)?.text !== text) missing.push(name);
        if (!client || givenUp.has(`${phone.account.phone}|${id}`)) continue;
        if (!shown.get(client)?.has(text)) missing.push(`${name}, client`);
      }
    }
    const doubled = this.people.flatMap(({ client }) =>
      client ? client.doubled().filter((id) => !network.askedAgain.has(id)) : [],
    );
    return {
      seed: this.plan.seed,
      operations,
      acknowledged: this.sent.length,
      refused: this.refused,
      faults: this.faults,
      missing,
      doubled,
      unreadable: this.people.flatMap(({ phone }) => [...phone.unreadable.keys()]),
      unconfirmed,
      givenUp: givenUp.size,
    };
  }
}
