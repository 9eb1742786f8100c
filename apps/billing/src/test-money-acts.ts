/** What people do with an account during a money run: on the pages of Stripe, on phones, and in the management API. */
import type { TestRegion } from './test-billing.js';
import type { Seeded } from './test-random.js';
import { REQUESTER, type RunningStripeSide } from './test-stripe-side.js';

/** Up to how many numbers accounts buy without asking. */
export const LIMIT = 3;
const MOST_NUMBERS = 6;
/** Pays while somebody sits at the page, and fails at every renewal. */
const FAILING = 'pm_card_chargeCustomerFail';
const WORKING = 'pm_card_visa';
const RUNNING = new Set(['active', 'trialing', 'past_due', 'unpaid', 'paused']);

export interface TestNumber {
  id: string;
  region: TestRegion;
}

export interface TestAccount {
  id: string;
  /** Those that exist, in the order of their links. */
  numbers: TestNumber[];
  /** Places that were chosen at Checkout last, however many numbers there are. */
  chosen: number;
}

export class MoneyActs {
  /** @param note notes what happened, for the message of a failure */
  constructor(
    private readonly running: RunningStripeSide,
    private readonly regions: readonly TestRegion[],
    private readonly random: Seeded,
    private readonly note: (text: string) => void,
  ) {}

  /** Something random. */
  async act(account: TestAccount): Promise<void> {
    const what = this.random();
    if (what < 0.26 && account.numbers.length < MOST_NUMBERS) return this.link(account);
    if (what < 0.42 && account.numbers.length > 0) return this.#delete(account);
    const subscription = await this.running.subscriptionOf(account.id);
    if (!subscription || !RUNNING.has(subscription.status)) return this.#buyAgain(account);
    if (what < 0.58) return this.#replaceCard(account, FAILING);
    if (what < 0.78) return this.#replaceCard(account, WORKING);
    if (what < 0.9) return this.#payOpen(account);
    return this.#cancelOrKeep(account, subscription.id, subscription.cancel_at_period_end);
  }

  async link(account: TestAccount): Promise<void> {
    const region = this.random.oneOf(this.regions);
    account.numbers.push({ region, id: await region.link(account.id) });
    this.note(`${account.id}: ${account.numbers.length} numbers`);
  }

  async #delete(account: TestAccount): Promise<void> {
    const [number] = account.numbers.splice(Math.floor(this.random() * account.numbers.length), 1);
    await number?.region.directory.markDeleted(number.id);
    this.note(`${account.id}: ${account.numbers.length} numbers`);
  }

  async #buyAgain(account: TestAccount): Promise<void> {
    const places = Math.min(LIMIT, Math.max(1, account.numbers.length - 1));
    account.chosen = places;
    await this.running.pay((await this.running.checkOut(account.id, places)).url);
    await this.running.wantTurn(account.id);
    this.note(`${account.id}: buys ${places} places at Checkout`);
  }

  /** In the portal the customer's default changes alone; elsewhere that of the subscription, too. */
  async #replaceCard(account: TestAccount, card: string): Promise<void> {
    const isPortal = this.random.chance(0.5);
    this.note(`${account.id}: ${card}${isPortal ? ' in the portal' : ''}`);
    if (isPortal) return this.#submit(await this.#portal(account), 'card', { card });
    const customer = await this.running.customerOf(account.id);
    await this.running.control('POST', `/customers/${customer}/card`, { card });
  }

  /** Pays the oldest open invoice on its page, with another card. */
  async #payOpen(account: TestAccount): Promise<void> {
    const customer = await this.running.customerOf(account.id);
    const { data } = await this.running.stripe.invoices.list({ customer, status: 'open', limit: 100 });
    const url = data.at(-1)?.hosted_invoice_url;
    if (url === undefined || url === null) return;
    this.note(`${account.id}: pays ${data.at(-1)?.id ?? ''} on its page`);
    await this.#submit(url, '', { card: WORKING });
  }

  async #cancelOrKeep(account: TestAccount, subscription: string, isEnding: boolean): Promise<void> {
    const deed = isEnding ? 'keep' : 'cancel';
    this.note(`${account.id}: ${deed} in the portal`);
    await this.#submit(await this.#portal(account), deed, { subscription });
  }

  async #portal({ id }: TestAccount): Promise<string> {
    return (await this.running.side.accounts.openPortal(id, REQUESTER)).url;
  }

  async #submit(page: string, deed: string, fields: Record<string, string>): Promise<void> {
    const url = deed === '' ? page : `${page}/${deed}`;
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
    // 402 and 400 are pages, too: the card was declined, or nothing is to be cancelled any more.
    if (answer.status >= 500 || answer.status === 404) throw new Error(`${url}: ${answer.status}`);
  }
}
