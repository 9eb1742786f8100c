/**
 * Months of accounts that link, delete, buy, pay, do not pay and cancel, while everything goes wrong: a random run.
 *
 * Each step does something with an account, moves the simulated time, and lets billing live a few lives that end at random acts (before or
 * after any statement, any call of Stripe), while Stripe fails one call in five, webhooks are doubled, shuffled, held and
 * lost, and a region is away. After every one of these it is checked what must hold always; then the faults end, billing comes to
 * rest, and what the customers have is compared with what Stripe has (`test-money-oracle.ts`).
 */
import type { TestRegion } from './test-billing.js';
import { LIMIT, MoneyActs, type TestAccount } from './test-money-acts.js';
import { Life, unending, type Ending } from './test-mortal.js';
import { MortalStripe } from './test-mortal-stripe.js';
import { seeded, type Seeded } from './test-random.js';
import type { RunningStripeSide } from './test-stripe-side.js';
import { receiveWebhooks } from './test-webhooks.js';
import { WholeBilling } from './test-whole-billing.js';

const DAY_MS = 86_400_000;
const DAY_S = 86_400;
export const GRACE_MS = 3 * DAY_MS;
const RULES = { isOn: true, freeNumbers: 1, graceMs: GRACE_MS };
const LIVES = 3;
/** How likely a life ends at an act at which none has ended yet; where some have, less. */
const FIRST_DEATH = 0.35;
/** What Stripe does when the last retry failed. */
const AFTER_LAST_RETRY = ['past_due', 'unpaid', 'pause', 'cancel'] as const;

export class MoneyRun {
  readonly accounts: TestAccount[] = [];
  /** What happened, for the message of a failure. */
  readonly story: string[] = [];
  /** Where lives ended, such as `after finish-stripe-intent`, and how often. */
  readonly deaths = new Map<string, number>();
  /** Names of all statements and calls of Stripe that a life came to. */
  readonly acts = new Set<string>();
  #aheadMs = 0;
  /** For what depends on the order of statements: apart, so that people do the same for the same seed. */
  readonly #fate: Seeded;
  readonly #acts: MoneyActs;
  readonly #billing: WholeBilling;

  private constructor(
    readonly running: RunningStripeSide,
    readonly regions: readonly [TestRegion, TestRegion],
    private readonly random: Seeded,
    private readonly stripe: MortalStripe,
    private readonly webhooks: { close: () => void },
  ) {
    this.#fate = seeded(Math.floor(random() * 2 ** 32));
    this.#acts = new MoneyActs(running, regions, random, (text) => void this.story.push(text));
    const settings = { ...running.settings, apiUrl: stripe.url };
    this.#billing = new WholeBilling({ running, regions, rules: RULES, nowMs: () => this.nowMs(), settings });
  }

  /** Opens accounts with two numbers, of which the second was bought. */
  static async open(
    running: RunningStripeSide,
    regions: readonly [TestRegion, TestRegion],
    random: Seeded,
    accounts: number,
  ): Promise<MoneyRun> {
    const stripe = await MortalStripe.to(running.simulator.url);
    const run = new MoneyRun(running, regions, random, stripe, await receiveWebhooks(running));
    for (let opened = 0; opened < accounts; opened += 1) {
      const account: TestAccount = { id: running.newAccount(), numbers: [], chosen: 1 };
      run.accounts.push(account);
      await run.#acts.link(account);
      await run.#acts.link(account);
      await run.rest();
      await running.buyFirst(account.id);
      await running.raiseLimit(account.id, LIMIT);
    }
    await run.rest();
    return run;
  }

  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  async close(): Promise<void> {
    this.webhooks.close();
    await this.#billing.close();
    await this.stripe.close();
  }

  /**
   * Something happens to an account, and some days pass, under faults; then there is rest.
   * @param check is called after everything that happens
   */
  async step(check: () => Promise<void>): Promise<void> {
    const { running, regions, random } = this;
    await this.#misbehave();
    await this.#acts.act(random.oneOf(this.accounts));
    await check();
    const days = 1 + Math.floor(random() * 8);
    await this.#advance(days);
    this.story.push(`${days} days`);
    await check();
    for (let lives = 0; lives < LIVES; lives += 1) {
      await this.#liveAndDie();
      await check();
    }
    await running.control('PATCH', '/webhooks', { mode: 'send', isDoubled: false, isShuffled: false });
    await running.control('POST', '/webhooks/release', { isShuffled: true });
    regions[1].proxy.restore();
    await this.rest();
  }

  /** Billing lives on until nothing is to be done. */
  async rest(): Promise<void> {
    this.stripe.life = unending();
    for (let rounds = 0; rounds < 4; rounds += 1) {
      await this.#timePasses();
      await this.#billing.live(unending());
    }
  }

  /** What goes wrong in this step, beside Stripe's failures and deaths. */
  async #misbehave(): Promise<void> {
    const { running, regions, random } = this;
    const mode = random.oneOf(['send', 'send', 'hold', 'lose']);
    await running.control('PATCH', '/webhooks', {
      mode,
      isDoubled: random.chance(0.5),
      isShuffled: random.chance(0.5),
    });
    const afterLastRetry = random.oneOf(AFTER_LAST_RETRY);
    const retryAfterSeconds = [random.oneOf([1, 2, 3]) * DAY_S, random.oneOf([1, 4]) * DAY_S];
    await running.control('PATCH', '/settings', { collection: { afterLastRetry, retryAfterSeconds } });
    const isAway = random.chance(0.3);
    if (isAway) regions[1].proxy.refuse();
    this.story.push(`webhooks ${mode}, after retries ${afterLastRetry}${isAway ? ', a region away' : ''}`);
  }

  async #liveAndDie(): Promise<void> {
    const { running, stripe } = this;
    await running.control('POST', '/faults', { kind: 'fail', oneIn: 5 });
    if (this.#fate.chance(0.3))
      await running.control('POST', '/faults', { kind: 'drop_answer', oneIn: 10, method: 'POST' });
    const life = new Life((_, name) => this.#endingAt(name));
    stripe.life = life;
    await this.#billing.live(life).catch((error: unknown) => {
      if (!life.isOver) throw error;
    });
    if (life.endedAt !== undefined) {
      this.deaths.set(life.endedAt, (this.deaths.get(life.endedAt) ?? 0) + 1);
      this.story.push(`died ${life.endedAt}`);
    }
    await running.control('DELETE', '/faults');
    await this.#timePasses();
  }

  /** Whether a life ends at an act, and how: so that in the long run lives end at every one of them, in both ways. */
  #endingAt(name: string): Ending | undefined {
    const ending = this.#fate.oneOf(['before', 'after'] as const);
    const before = this.deaths.get(`${ending} ${name}`) ?? 0;
    this.acts.add(name);
    return this.#fate.chance(FIRST_DEATH / (1 + before) ** 2) ? ending : undefined;
  }

  /** Moves the time of Stripe and of billing; what is stored by the database's clock becomes older. */
  async #advance(days: number): Promise<void> {
    await this.running.advance(days);
    this.#aheadMs += days * DAY_MS;
    const { pool } = this.running.database;
    const older = `$1 * interval '1 day'`;
    await pool.query(
      `UPDATE billing_previews SET created_at = created_at - ${older}, accepted_at = accepted_at - ${older}`,
      [days],
    );
    await pool.query(`UPDATE stripe_intents SET created_at = created_at - ${older}`, [days]);
  }

  /** Leases of turns run out, and what was to be repeated later is due. */
  async #timePasses(): Promise<void> {
    await this.running.database.pool.query(
      'UPDATE billing_turns SET held_until = NULL, due_at = now() WHERE due_at IS NOT NULL OR held_until IS NOT NULL',
    );
  }
}
