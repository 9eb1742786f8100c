import { setTimeout } from 'node:timers/promises';
import { addMembers, createGroup, removeMembers } from '../groups/group-members.js';
import type { Group } from '../network/group.js';
import { scanCode, unlink } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import type { Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';
import type { RandomHistory } from './random-history.js';

const QUERY_TIMEOUT_MS = 8000;

/** Somebody on the network: always a phone, maybe a linked client, which may be unlinked and replaced by another. */
export interface Person {
  phone: Phone;
  client?: Client;
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

/** Who takes part, in which groups, and whose client is being connected just now. */
export class RandomPeople {
  readonly all: Person[] = [];
  readonly groups: Group[] = [];
  /** When somebody was last removed from a group, by group and private id, in milliseconds. */
  private readonly removals = new Map<string, number>();
  /** Whose client is being connected again: two sockets of one device would replace each other for ever. */
  private readonly away = new Set<Person>();
  /** When somebody's number did not exist. */
  private readonly unknown = new Map<Person, { fromMs: number; untilMs: number }[]>();

  constructor(
    private readonly simulator: Simulator,
    readonly random: () => number,
    private readonly history: RandomHistory,
  ) {}

  async populate(clients: number, phones: number): Promise<void> {
    const { simulator } = this;
    for (let index = 0; index < clients + phones; index++) {
      const person: Person = { phone: simulator.phones.of(simulator.network.accounts.add()) };
      this.all.push(person);
      if (index < clients) await this.link(person);
    }
    this.newGroup(this.all);
    this.newGroup(this.some(this.all, 0.5));
  }

  pick<T>(from: readonly T[]): T {
    const chosen = from[Math.floor(this.random() * from.length)];
    if (chosen === undefined) throw new Error('There is nothing to choose from.');
    return chosen;
  }

  online(): Person[] {
    return this.all.filter((person) => person.client?.online && !this.away.has(person));
  }

  members(group: Group): Person[] {
    return this.all.filter(({ phone }) => group.has(phone.account.lid));
  }

  /** Whether somebody was out of the group at any time since then. */
  wasOut(group: Group, { phone }: Person, sinceMs: number): boolean {
    return (this.removals.get(`${group.jid} ${phone.account.lid}`) ?? 0) >= sinceMs;
  }

  newGroup(people: readonly Person[]): void {
    const [first, ...others] = people;
    if (!first) return;
    const jids = others.map(({ phone }) => phone.account.phoneJid);
    const addressing = this.random() < 0.5 ? 'lid' : 'pn';
    const name = `Group ${this.groups.length}`;
    this.groups.push(createGroup(this.simulator.network, first.phone.account, name, jids, addressing).group);
  }

  /** Somebody joins or leaves a group (never the one of everybody, nor its admin). */
  changeMembers(): void {
    const { network } = this.simulator;
    const group = this.pick(this.groups.slice(1));
    const admin = this.all.find(({ phone }) => group.isAdmin(phone.account.lid));
    const other = this.pick(this.all.filter((person) => person !== admin));
    if (!admin) return;
    const { account } = other.phone;
    const joins = !group.has(account.lid);
    this.history.note(account.phone, `${joins ? 'joins' : 'is taken out of'} ${group.jid}`);
    if (joins) addMembers(network, group, admin.phone.account, [account.phoneJid]);
    else {
      removeMembers(network, group, admin.phone.account, [account.phoneJid]);
      this.removals.set(`${group.jid} ${account.lid}`, Date.now());
    }
  }

  /**
   * Breaks the line of a connected client in some way, then connects it again. Resolves with false when the client was
   * not there, or is being connected already.
   */
  async whileAway(person: Person, leave: (client: Client) => Promise<void> | void): Promise<boolean> {
    const { client } = person;
    if (!client?.online || this.away.has(person)) return false;
    this.away.add(person);
    try {
      await leave(client);
      await client.reconnect();
      return true;
    } finally {
      this.away.delete(person);
    }
  }

  /** Connects the clients that something cut off when they had just been connected. */
  async comeBack(): Promise<void> {
    for (const person of this.all) {
      const { client } = person;
      if (!client || client.online || this.away.has(person)) continue;
      this.away.add(person);
      await client.reconnect().finally(() => this.away.delete(person));
    }
  }

  /** The person's number does not exist for a while. False when it does not exist just now. */
  async whileUnknown(person: Person, job: () => Promise<void>): Promise<boolean> {
    const spans = this.unknown.get(person) ?? [];
    const last = spans.at(-1);
    if (last?.untilMs === Infinity) return false;
    const span = { fromMs: Date.now(), untilMs: Infinity };
    this.unknown.set(person, [...spans, span]);
    try {
      await job();
      return true;
    } finally {
      span.untilMs = Date.now();
    }
  }

  /** Whether the person's number did not exist at any time of these. */
  wasUnknown(person: Person, fromMs: number, untilMs: number): boolean {
    return (this.unknown.get(person) ?? []).some((span) => span.fromMs <= untilMs && span.untilMs >= fromMs);
  }

  /** The phone unlinks its client, and links another in its place. */
  async relink(person: Person): Promise<void> {
    const { client } = person;
    if (!client?.online || this.away.has(person)) return;
    this.away.add(person);
    try {
      delete person.client;
      const closed = client.closed();
      for (const device of person.phone.account.devices.values()) unlink(this.simulator.network, device);
      await closed;
      await client.end();
      await this.link(person);
    } finally {
      this.away.delete(person);
    }
  }

  /** Silence on the line for a moment, as under a bridge; the client gives up and comes back. */
  silence(person: Person, ms: number): Promise<boolean> {
    const { connections } = this.simulator.network;
    return this.whileAway(person, async () => {
      const lines = [...person.phone.account.devices.values()].flatMap((device) => connections.of(device) ?? []);
      for (const line of lines) line.silent = true;
      await setTimeout(ms);
      for (const line of lines) line.cut();
    });
  }

  some(people: readonly Person[], share: number): Person[] {
    return people.filter(() => this.random() < share);
  }

  private async link(person: Person): Promise<void> {
    const { network } = this.simulator;
    const client = new Client(this.simulator, {
      ...mediaThrough(this.simulator),
      logger: this.history.clientLog(person.phone.account.phone),
      retryRequestDelayMs: 20,
      // A query that was cut off is not answered; the library waits a minute by itself.
      defaultQueryTimeoutMs: QUERY_TIMEOUT_MS,
    });
    await client
      .link((qr) => scanCode(network, person.phone.account, qr))
      .catch((error: unknown) => {
        // Linked, but its first login met a fault: a device that nobody uses any more would wait for ever.
        if (client.jid === '') throw error;
        return client.reconnect();
      });
    person.client = client;
  }
}
