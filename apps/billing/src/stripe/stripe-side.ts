import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import type { Stripe } from 'stripe';
import { AccountEnd } from '../buying/account-end.js';
import { Checkout } from '../buying/checkout.js';
import { Customers } from '../buying/customers.js';
import { NewCards } from '../buying/new-cards.js';
import { Portal } from '../buying/portal.js';
import { Previews } from '../buying/previews.js';
import { QuantityChanges } from '../buying/quantity-changes.js';
import { Resumption } from '../buying/resumption.js';
import { CustomerTurns } from '../customers/customer-turns.js';
import { Duplicates } from '../customers/duplicates.js';
import { AccountBilling } from '../internal/account-billing.js';
import { countNumbers, type NumberCounts } from '../numbers/billed-numbers.js';
import type { BillingRules } from '../standing/standing.js';
import { Sweep } from '../sweep/sweep.js';
import type { WebhookTerms } from '../webhook/signed-event.js';
import { StripeEvents } from '../webhook/stripe-events.js';
import { Catalogue } from './catalogue.js';
import { Intents } from './intents.js';
import { isTestKey, openStripe } from './stripe-client.js';
import type { StripeSettings } from './stripe-settings.js';

export interface StripeSideTerms {
  settings: StripeSettings;
  database: Pick<GlobalDatabase, 'pool'>;
  rules: BillingRules;
  nowMs: () => number;
  log: Logger;
  /** Runs the turn of an account soon. */
  kick: (accountId: string) => void;
  /** Facts of an account were stored: standings may differ. */
  onFacts: () => void;
}

/** Everything that talks with Stripe, put together. Nothing is opened before the first call. */
export class StripeSide {
  /** For what somebody waits for. */
  readonly stripe: Stripe;
  readonly webhook: WebhookTerms;
  readonly events: StripeEvents;
  readonly previews: Previews;
  readonly intents: Intents;
  readonly turns: CustomerTurns;
  readonly sweep: Sweep;
  readonly accounts: AccountBilling;
  readonly accountEnd: AccountEnd;

  constructor({ settings, database, rules, nowMs, log, kick, onFacts }: StripeSideTerms) {
    const { requestsPerSecond, pages, price } = settings;
    const stripe = openStripe(settings);
    const paced = openStripe({ ...settings, requestsPerSecond });
    const intents = new Intents(database.pool);
    const catalogue = new Catalogue(stripe);
    const checkout = new Checkout(stripe, intents, catalogue, pages);
    const duplicates = new Duplicates(paced, intents, database.pool, log);
    const previews = new Previews(stripe, catalogue, database.pool, nowMs);
    const counts = (on: Parameters<typeof countNumbers>[0], accountId: string): Promise<NumberCounts> =>
      countNumbers(on, accountId, { freeNumbers: rules.freeNumbers, nowMs: nowMs() });
    this.stripe = stripe;
    this.webhook = { secrets: settings.webhookSecrets, isTest: isTestKey(settings.secretKey) };
    this.events = new StripeEvents(database);
    this.intents = intents;
    this.previews = previews;
    this.turns = new CustomerTurns({
      ...{ database, stripe: paced, intents, duplicates, previews, nowMs, log, onFacts },
      changes: new QuantityChanges(paced, intents),
      newCards: new NewCards(paced, intents, log),
      resumption: new Resumption(paced, intents, log),
      furtherNumbers: async (on, accountId) => (await counts(on, accountId)).further,
      graceMs: rules.graceMs,
    });
    const { freeNumbers } = rules;
    this.sweep = new Sweep({ database, stripe: paced, duplicates, kick, freeNumbers, nowMs, log });
    this.accounts = new AccountBilling({
      ...{ database, stripe, checkout, previews, kick },
      customers: new Customers(stripe, intents, database),
      portal: new Portal(stripe, catalogue, pages.returnUrl),
      numbersOf: async (on, accountId) => {
        const { numbers, free } = await counts(on, accountId);
        return { numbers, free };
      },
      terms: { price, graceMs: rules.graceMs },
      runTurn: (accountId) => this.turns.run(accountId),
    });
    this.accountEnd = new AccountEnd({ database, stripe, intents, checkout, duplicates, kick });
  }

  /** Deletes what is old: events, previews, changes that ended long ago. */
  async deleteOld(): Promise<void> {
    await this.events.deleteOld();
    await this.previews.deleteOld();
    await this.intents.deleteOld();
  }
}
