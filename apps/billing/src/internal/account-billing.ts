/**
 * What the control plane may know and change of an account's billing.
 *
 * What it guarantees: reading answers from what is stored, whether Stripe is there or not; everything else that needs Stripe is
 * 503 while it is away, and has changed nothing. A limit is raised only by somebody who was shown the amount. Whether an
 * account has a subscription is read from Stripe before it is sent to Checkout, so that no second one is sold.
 */
import { appendAudit, type AuditEntry } from '@dormouse/audit-log';
import { transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type {
  BillingCallAnswer,
  BillingPage,
  BillingPreview,
  BillingRecord,
  ChangeBillingBody,
  InvoiceList,
  InvoicesQuery,
} from '@dormouse/management-contract';
import pTimeout from 'p-timeout';
import type { Stripe } from 'stripe';
import { alreadyBought, type Checkout } from '../buying/checkout.js';
import type { Customers, Buyer } from '../buying/customers.js';
import { listInvoices } from '../buying/invoices.js';
import type { Portal } from '../buying/portal.js';
import type { Previews } from '../buying/previews.js';
import {
  findBillingAccount,
  setBuyLimit,
  watchBillingAccount,
  type BillingAccountRow,
} from '../customers/billing-accounts.js';
import { readCustomer } from '../customers/customer-reader.js';
import { isRunning, type SubscriptionFacts } from '../customers/subscription-facts.js';
import { requestTurn } from '../customers/turns.js';
import { pageOfNumbers } from '../numbers/billed-numbers.js';
import { placeOf } from '../standing/standing.js';
import { StripeRefusedError } from '../stripe/stripe-client.js';
import { billingRecordOf, type RecordTerms } from './billing-record.js';

/** Who makes a request, for the audit log. */
export type Requester = Pick<AuditEntry, 'actor' | 'address' | 'requestId'>;

export interface AccountBillingParts {
  database: Pick<GlobalDatabase, 'pool'>;
  stripe: Stripe;
  customers: Customers;
  checkout: Checkout;
  portal: Portal;
  previews: Previews;
  numbersOf: (on: Queryable, accountId: string) => Promise<{ numbers: number; free: number }>;
  terms: RecordTerms;
  kick: (accountId: string) => void;
  /** Runs the turn of an account now, unless somebody has it. */
  runTurn: (accountId: string) => Promise<void>;
}

/** How long a change waits for what it causes at Stripe; then it goes on without it. */
const TURN_WITHIN_MS = 8_000;

export class AccountBilling {
  constructor(private readonly parts: AccountBillingParts) {}

  async read(accountId: string): Promise<BillingRecord> {
    const { database, numbersOf, terms } = this.parts;
    const [row, counts] = await Promise.all([
      findBillingAccount(database.pool, accountId),
      numbersOf(database.pool, accountId),
    ]);
    return billingRecordOf(row, counts, terms);
  }

  /** The numbers that count, in the order of first links, from what is stored. */
  async numbers(accountId: string, page: { count: number; offset: number }): Promise<BillingCallAnswer<'numbers'>> {
    const [{ numbers: total, free, bought }, numbers] = await Promise.all([
      this.read(accountId),
      pageOfNumbers(this.parts.database.pool, accountId, page),
    ]);
    return {
      numbers: numbers.map(({ channel, region, firstLinkedAt, standing = 'good' }, index) => ({
        channel,
        region,
        first_linked_at: Math.floor(firstLinkedAt.getTime() / 1_000),
        place: placeOf(page.offset + index, free ?? 0, bought),
        standing,
      })),
      total: total ?? 0,
    };
  }

  /** @throws {GatewayError} 400 naming the field */
  async change(accountId: string, body: ChangeBillingBody, requester: Requester): Promise<BillingRecord> {
    const { database, previews, runTurn } = this.parts;
    const { limit } = body;
    const before = (await findBillingAccount(database.pool, accountId))?.buy_limit ?? 0;
    const shown = limit > before ? await this.#requireShown(accountId, limit, body.preview) : undefined;
    await transaction(database, async (connection) => {
      await setBuyLimit(connection, accountId, limit);
      if (shown) await previews.accept(connection, accountId, shown.id);
      await requestTurn(connection, accountId);
      await appendAudit(connection, {
        accountId,
        ...requester,
        action: 'billing.limit',
        details: {
          limit,
          limit_before: before,
          shown_amount: shown?.amount ?? null,
          currency: shown?.currency ?? null,
        },
      });
    });
    await pTimeout(runTurn(accountId), { milliseconds: TURN_WITHIN_MS, fallback: () => undefined });
    return this.read(accountId);
  }

  /** @throws {StripeAwayError} */
  async preview(accountId: string, numbers: number): Promise<BillingPreview> {
    const row = await findBillingAccount(this.parts.database.pool, accountId);
    const subscription = await this.#truthOf(row);
    const running = subscription && isRunning(subscription) ? subscription : undefined;
    const { id, quantity, amount, unitAmount, currency } = await this.parts.previews.make(accountId, numbers, running);
    return { preview: id, numbers: quantity, amount, currency, price: unitAmount };
  }

  /**
   * @param numbers absent: those that are not covered now, at least one
   * @throws {StripeAwayError} @throws {GatewayError} 409 when the account has a subscription
   */
  async checkOut(buyer: Buyer, numbers: number | undefined, requester: Requester): Promise<BillingPage> {
    const { database, customers, checkout, numbersOf, kick } = this.parts;
    const { accountId } = buyer;
    const subscription = await this.#truthOf(await findBillingAccount(database.pool, accountId));
    if (subscription && isRunning(subscription)) {
      await requestTurn(database.pool, accountId);
      kick(accountId);
      throw alreadyBought();
    }
    const counts = await numbersOf(database.pool, accountId);
    const places = numbers ?? Math.max(1, counts.numbers - counts.free);
    const url = await checkout.pageFor(accountId, await customers.of(buyer), places);
    await transaction(database, async (connection) => {
      await watchBillingAccount(connection, accountId);
      await requestTurn(connection, accountId);
      await appendAudit(connection, {
        accountId,
        ...requester,
        action: 'billing.checkout',
        details: { numbers: places },
      });
    });
    kick(accountId);
    return { url };
  }

  /** @throws {StripeAwayError} @throws {GatewayError} 409 before the first purchase */
  async openPortal(accountId: string, requester: Requester): Promise<BillingPage> {
    const { database, portal, kick } = this.parts;
    const row = await findBillingAccount(database.pool, accountId);
    if (!row || row.stripe_customer_id === null) {
      throw new GatewayError(409, {
        message: 'nothing was bought yet',
        details: 'the account has no card and no invoices; POST /billing/checkout comes first',
      });
    }
    const url = await portal.pageFor(row.stripe_customer_id);
    await transaction(database, async (connection) => {
      await watchBillingAccount(connection, accountId);
      await requestTurn(connection, accountId);
      await appendAudit(connection, { accountId, ...requester, action: 'billing.portal' });
    });
    kick(accountId);
    return { url };
  }

  /** @throws {StripeAwayError} @throws {GatewayError} 404 for a cursor that is none of the account's */
  async invoices(accountId: string, { count, after }: InvoicesQuery): Promise<InvoiceList> {
    const row = await findBillingAccount(this.parts.database.pool, accountId);
    if (!row || row.stripe_customer_id === null) return { invoices: [], next: null };
    try {
      const page = { count, ...(after === undefined ? {} : { after }) };
      return await listInvoices(this.parts.stripe, row.stripe_customer_id, page);
    } catch (error) {
      if (!(error instanceof StripeRefusedError) || after === undefined) throw error;
      throw new GatewayError(404, { message: 'invoice not found', details: 'after: the account has no such invoice' });
    }
  }

  /** The subscription as Stripe has it. */
  async #truthOf(row: BillingAccountRow | undefined): Promise<SubscriptionFacts | undefined> {
    if (!row || row.stripe_customer_id === null) return undefined;
    return (await readCustomer(this.parts.stripe, row.stripe_customer_id)).subscription ?? undefined;
  }

  async #requireShown(accountId: string, limit: number, preview: string | null | undefined) {
    if (preview === undefined || preview === null) {
      throw new GatewayError(400, { details: 'preview: needed to raise the limit; POST /billing/preview makes one' });
    }
    const shown = await this.parts.previews.require(accountId, preview);
    if (shown.quantity >= limit) return { id: preview, ...shown };
    throw new GatewayError(400, {
      details: `preview: shows the amount for ${shown.quantity} numbers; make one for ${limit}`,
    });
  }
}
