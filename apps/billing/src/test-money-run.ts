/**
 * Months of accounts that link, delete, pay and do not pay, while everything goes wrong: a random run with an oracle.
 *
 * Each step moves the simulated time, does something with an account, and lets billing live a few lives that end at random
 * statements, while Stripe fails one call in five, webhooks are doubled, shuffled, held and lost, and a region is away. Then the faults
 * end, billing comes to rest, and what the customers have is compared with what Stripe has (`test-money-oracle.ts`).
 */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENTS } from './setup/setup.js';
import type { TestRegion } from './test-billing.js';
import { Life } from './test-mortal.js';
import type { RunningStripeSide } from './test-stripe-side.js';
import { unending, WholeBilling } from './test-whole-billing.js';
import { readSignedEvent } from './webhook/signed-event.js';

const DAY_MS = 86_400_000;
export const GRACE_MS = 3 * DAY_MS;
const RULES = { isOn: true, freeNumbers: 1, graceMs: GRACE_MS };
/** Up to how many numbers accounts buy without asking. */
export const LIMIT = 3;
const MOST_STATEMENTS = 60;

export interface TestNumber {
  id: string;
  region: TestRegion;
}

export interface TestAccount {
  id: string;
  /** Those that exist, in the order of their links. */
  numbers: TestNumber[];
}

/** Numbers below 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class MoneyRun {
  readonly accounts: TestAccount[] = [];
  /** What happened, for the message of a failure. */
  readonly story: string[] = [];
  deaths = 0;
  #aheadMs = 0;
  #webhooks: Server | undefined;
  readonly #billing: WholeBilling;

  constructor(
    readonly running: RunningStripeSide,
    readonly regions: readonly [TestRegion, TestRegion],
    private readonly random: () => number,
  ) {
    this.#billing = new WholeBilling({ running, regions, rules: RULES, nowMs: () => this.nowMs() });
  }

  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Receives webhooks, and opens accounts with two numbers, of which the second was bought. */
  async start(accounts: number): Promise<void> {
    await this.#receiveWebhooks();
    for (let opened = 0; opened < accounts; opened += 1) {
      const account: TestAccount = { id: this.running.newAccount(), numbers: [] };
      this.accounts.push(account);
      await this.#link(account);
      await this.#link(account);
      await this.rest();
      await this.running.buyFirst(account.id);
      await this.running.raiseLimit(account.id, LIMIT);
    }
    await this.rest();
  }

  async close(): Promise<void> {
    this.#webhooks?.close();
    this.#webhooks?.closeAllConnections();
    await this.#billing.close();
  }

  /** Something happens to an account, and some days pass, under faults; then there is rest. */
  async step(): Promise<void> {
    const { running, regions } = this;
    const mode = this.#oneOf(['send', 'send', 'hold', 'lose']);
    await running.control('PATCH', '/webhooks', { mode, isDoubled: this.#chance(0.5), isShuffled: this.#chance(0.5) });
    await running.control('POST', '/faults', { kind: 'fail', oneIn: 5 });
    if (this.#chance(0.3)) await running.control('POST', '/faults', { kind: 'drop_answer', oneIn: 10, method: 'POST' });
    const isAway = this.#chance(0.3);
    if (isAway) regions[1].proxy.refuse();
    this.story.push(`webhooks ${mode}${isAway ? ', a region away' : ''}`);
    await this.#act();
    const days = 1 + Math.floor(this.random() * 8);
    await this.#advance(days);
    this.story.push(`${days} days`);
    for (let lives = 0; lives < 3; lives += 1) await this.#liveAndDie();
    await running.control('DELETE', '/faults');
    await running.control('PATCH', '/webhooks', { mode: 'send', isDoubled: false, isShuffled: false });
    await running.control('POST', '/webhooks/release', { isShuffled: true });
    regions[1].proxy.restore();
    await this.rest();
  }

  /** Billing lives on until nothing is to be done. */
  async rest(): Promise<void> {
    for (let rounds = 0; rounds < 4; rounds += 1) {
      await this.#timePasses();
      await this.#billing.live(unending());
    }
  }

  async #act(): Promise<void> {
    const account = this.#oneOf(this.accounts);
    const what = this.random();
    if (what < 0.35 && account.numbers.length < 6) return this.#link(account);
    if (what < 0.6 && account.numbers.length > 0) return this.#delete(account);
    const card = what < 0.8 ? 'pm_card_chargeCustomerFail' : 'pm_card_visa';
    const customer = await this.running.customerOf(account.id);
    await this.running.control('POST', `/customers/${customer}/card`, { card });
    this.story.push(`${account.id}: ${card}`);
  }

  async #link(account: TestAccount): Promise<void> {
    const region = this.#oneOf(this.regions);
    account.numbers.push({ region, id: await region.link(account.id) });
    this.story.push(`${account.id}: ${account.numbers.length} numbers`);
  }

  async #delete(account: TestAccount): Promise<void> {
    const [number] = account.numbers.splice(Math.floor(this.random() * account.numbers.length), 1);
    await number?.region.directory.markDeleted(number.id);
    this.story.push(`${account.id}: ${account.numbers.length} numbers`);
  }

  async #liveAndDie(): Promise<void> {
    const life = new Life(1 + Math.floor(this.random() * MOST_STATEMENTS), this.#oneOf(['before', 'after'] as const));
    await this.#billing.live(life).catch(() => undefined);
    if (life.isOver) this.deaths += 1;
    await this.#timePasses();
  }

  /** Moves the time of Stripe and of billing; what is stored by the database's clock becomes older. */
  async #advance(days: number): Promise<void> {
    await this.running.advance(days);
    this.#aheadMs += days * DAY_MS;
    await this.running.database.pool.query(
      `UPDATE billing_previews SET created_at = created_at - $1 * interval '1 day',
         accepted_at = accepted_at - $1 * interval '1 day'`,
      [days],
    );
  }

  /** Leases of turns run out, and what was to be repeated later is due. */
  async #timePasses(): Promise<void> {
    await this.running.database.pool.query(
      'UPDATE billing_turns SET held_until = NULL, due_at = now() WHERE due_at IS NOT NULL OR held_until IS NOT NULL',
    );
  }

  async #receiveWebhooks(): Promise<void> {
    const { stripe, side } = this.running;
    const secrets: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const signature = request.headers['stripe-signature'];
        Promise.resolve()
          .then(() => readSignedEvent(stripe, { secrets, isTest: true }, Buffer.concat(chunks), signature))
          .then((event) => side.events.receive(event))
          .then(
            () => response.writeHead(200).end(),
            () => response.writeHead(500).end(),
          );
      });
    });
    this.#webhooks = server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stripe/webhook`;
    const endpoint = await stripe.webhookEndpoints.create({ url, enabled_events: [...WEBHOOK_EVENTS] });
    secrets.push(endpoint.secret ?? '');
  }

  #chance(share: number): boolean {
    return this.random() < share;
  }

  #oneOf<T>(all: readonly T[]): T {
    const one = all[Math.floor(this.random() * all.length)];
    if (one === undefined) throw new Error('there is nothing to choose from');
    return one;
  }
}
