/**
 * One account at Stripe, brought in order: what was left open is finished, the truth is read and stored, the quantity follows
 * the numbers.
 *
 * What it guarantees: everything that is stored was read from Stripe in this turn, never from an event, and is written in one
 * transaction with the mark that standings are to be computed anew, the audit entry and the mails that it causes. Turns of one
 * account run one after another, in whatever process (turns.ts). Killed anywhere, the next turn finishes what was begun.
 * With Stripe away nothing that is stored changes, and the turn is repeated. With PostgreSQL away nothing is done at Stripe.
 */
import { appendAudit } from '@dormouse/audit-log';
import type { LogOf } from '@dormouse/bootstrap';
import { transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import { enqueueMail } from '@dormouse/mail-outbox';
import { randomUUID } from 'node:crypto';
import type { Stripe } from 'stripe';
import { newCardOf, type NewCards } from '../buying/new-cards.js';
import type { QuantityChanges } from '../buying/quantity-changes.js';
import { nextQuantityStep, type Declined } from '../buying/quantity-plan.js';
import type { Previews } from '../buying/previews.js';
import { waitsForResumption, type Resumption } from '../buying/resumption.js';
import type { Intents } from '../stripe/intents.js';
import { StripeAwayError } from '../stripe/stripe-client.js';
import { findBillingAccount, lockBillingAccount, setDeclined, setFacts } from './billing-accounts.js';
import type { BillingAccountRow } from './billing-accounts.js';
import { readCustomer, type Reading } from './customer-reader.js';
import type { Duplicates } from './duplicates.js';
import { paymentNotices } from './payment-notices.js';
import { fingerprintOf, type CustomerFacts } from './subscription-facts.js';
import { endTurn, renewTurn, takeTurn, TurnLostError, type Turn } from './turns.js';

export interface CustomerTurnParts {
  database: Pick<GlobalDatabase, 'pool'>;
  stripe: Stripe;
  intents: Intents;
  changes: QuantityChanges;
  duplicates: Duplicates;
  newCards: NewCards;
  resumption: Resumption;
  previews: Previews;
  /** How many numbers of an account count beyond its free ones. */
  furtherNumbers: (on: Queryable, accountId: string) => Promise<number>;
  graceMs: number;
  nowMs: () => number;
  /** Facts were stored that standings may differ by. */
  onFacts: () => void;
  log: LogOf<'info' | 'warn' | 'error'>;
}

/** How soon an account with something open is looked at again, whatever webhooks do. */
const OPEN_AGAIN_MS = 45_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** More steps than any plan has: something changes it from outside, and the next turn goes on. */
const MAX_STEPS = 6;

export class CustomerTurns {
  constructor(private readonly parts: CustomerTurnParts) {}

  /** Runs the turns of an account until none is due, or another process has it. */
  async run(accountId: string): Promise<void> {
    const { pool } = this.parts.database;
    for (;;) {
      const turn = await takeTurn(pool, accountId, randomUUID());
      if (!turn) return;
      try {
        await endTurn(pool, turn, await this.#bringInOrder(turn));
      } catch (error) {
        if (error instanceof TurnLostError) return;
        await this.#putOff(turn, error);
        return;
      }
    }
  }

  async #putOff(turn: Turn, error: unknown): Promise<void> {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(turn.failures, 10), LONGEST_PAUSE_MS);
    const { accountId } = turn;
    const level = error instanceof StripeAwayError ? 'warn' : 'error';
    this.parts.log[level]({ err: error, accountId, pauseMs }, 'an account could not be brought in order with Stripe');
    await endTurn(this.parts.database.pool, turn, pauseMs, true);
  }

  /** @returns when the next turn is due, in ms; null: when it is requested */
  async #bringInOrder(turn: Turn): Promise<number | null> {
    const { database, duplicates } = this.parts;
    const { accountId } = turn;
    const before = await findBillingAccount(database.pool, accountId);
    if (!before || before.stripe_customer_id === null) return null;
    await this.#finishOpen(accountId);
    let reading = await this.#read(before.stripe_customer_id);
    const { duplicates: further } = reading.facts;
    for (const subscription of further) await duplicates.remove(accountId, subscription);
    const hasNewCard = await this.#useNewCard(turn, before, reading.facts);
    if (hasNewCard || further.length > 0) reading = await this.#read(before.stripe_customer_id);
    let row = await this.#store(turn, reading);
    for (let steps = 0; steps < MAX_STEPS && (await this.#step(turn, row, reading.facts)); steps += 1) {
      reading = await this.#read(before.stripe_customer_id);
      row = await this.#store(turn, reading);
    }
    return this.#nextInMs(row, reading.facts);
  }

  async #read(customer: string): Promise<Reading> {
    const { stripe, nowMs } = this.parts;
    const asOfMs = nowMs();
    return { asOfMs, facts: await readCustomer(stripe, customer) };
  }

  /** Finishes what a crash or a cut connection left open. */
  async #finishOpen(accountId: string): Promise<void> {
    const { intents, changes, duplicates, newCards, resumption } = this.parts;
    await intents.resume(accountId, {
      ...{ ...changes.acts, ...duplicates.acts },
      ...{ ...newCards.acts, ...resumption.acts },
    });
  }

  /** @returns whether there was a new card */
  async #useNewCard(turn: Turn, before: BillingAccountRow, facts: CustomerFacts): Promise<boolean> {
    const { database, furtherNumbers, newCards } = this.parts;
    const { accountId } = turn;
    const card = newCardOf(before.facts?.subscription, facts.subscription);
    if (card === undefined) return false;
    await renewTurn(database.pool, turn);
    const wantedPlaces = Math.min(await furtherNumbers(database.pool, accountId), before.buy_limit);
    await newCards.use(accountId, card, facts, wantedPlaces);
    return true;
  }

  /** Resumes what is paid, or makes the next step of the quantity plan. @returns whether there was something to do */
  async #step(turn: Turn, row: BillingAccountRow, facts: CustomerFacts): Promise<boolean> {
    const { database, changes, furtherNumbers, previews, resumption, nowMs } = this.parts;
    const { accountId } = turn;
    const { subscription } = facts;
    if (subscription && waitsForResumption(facts)) {
      await renewTurn(database.pool, turn);
      return resumption.resume(accountId, subscription, nowMs());
    }
    const step = nextQuantityStep({
      subscription,
      furtherNumbers: await furtherNumbers(database.pool, accountId),
      buyLimit: row.buy_limit,
      declined: row.declined,
    });
    if (!step || !subscription) return false;
    await renewTurn(database.pool, turn);
    const shown =
      step.kind === 'purchase' ? await previews.accepted(accountId, subscription, step.quantity) : undefined;
    const outcome = await changes.make(accountId, subscription, step, shown);
    this.parts.log.info({ accountId, step: step.kind, quantity: step.quantity, outcome }, 'quantity changed at Stripe');
    if (outcome === 'declined') {
      const { paymentMethod } = subscription;
      await setDeclined(database.pool, accountId, { quantity: step.quantity, paymentMethod });
    }
    return true;
  }

  /** Writes what was read, and everything that it causes, in one transaction. @throws {TurnLostError} */
  async #store(turn: Turn, { facts, asOfMs }: Reading): Promise<BillingAccountRow> {
    const { database, furtherNumbers, graceMs, onFacts } = this.parts;
    const { accountId } = turn;
    const stored = await transaction(database, async (connection) => {
      await renewTurn(connection, turn);
      const row = await lockBillingAccount(connection, accountId);
      if (!row) throw new TurnLostError(accountId);
      const covered = Math.min(await furtherNumbers(connection, accountId), facts.subscription?.bought ?? 0);
      const state = { accountId, facts, coveredNumbers: covered, graceMs, nowMs: asOfMs, stoppedFor: row.stopped_for };
      const { mails, stoppedFor } = paymentNotices(state);
      const fingerprint = fingerprintOf(facts);
      const changed = fingerprint !== row.fingerprint;
      const declined = declinedAfter(row.declined, facts);
      // While payment fails, grace may have ended since the last reading.
      const isAffected = changed || facts.subscription?.status === 'past_due';
      const news = { accountId, facts, fingerprint, declined, stoppedFor, changed: isAffected, asOfMs };
      await setFacts(connection, news);
      for (const mail of mails) await enqueueMail(connection, mail);
      if (changed) await appendChange(connection, row, facts);
      return { isAffected, row: { ...row, declined, stopped_for: stoppedFor, fingerprint } };
    });
    if (stored.isAffected) onFacts();
    return stored.row;
  }

  #nextInMs(row: BillingAccountRow, facts: CustomerFacts): number | null {
    const { graceMs, nowMs } = this.parts;
    const { subscription } = facts;
    if (row.is_watched === true || isOpen(facts)) return OPEN_AGAIN_MS;
    if (!subscription || subscription.status === 'canceled') return null;
    const { accountId, stoppedFor } = { accountId: row.account_id, stoppedFor: row.stopped_for };
    const { nextAtMs } = paymentNotices({ accountId, facts, coveredNumbers: 1, graceMs, nowMs: nowMs(), stoppedFor });
    const dueAtMs = Math.min(nextAtMs ?? Infinity, subscription.periodEnd * 1_000);
    return Math.max(OPEN_AGAIN_MS, dueAtMs - nowMs());
  }
}

/** Something waits for a payment, which may come without a webhook. */
function isOpen({ subscription, overdue, pendingInvoice }: CustomerFacts): boolean {
  return overdue.length > 0 || pendingInvoice !== null || subscription?.status === 'incomplete';
}

/** What the card refused, remembered until it is bought after all. */
function declinedAfter(before: Declined | null, { subscription }: CustomerFacts): Declined | null {
  if (!subscription) return null;
  const { pending, paymentMethod, bought } = subscription;
  if (pending) return { quantity: pending.quantity, paymentMethod };
  return before && before.quantity > bought ? before : null;
}

async function appendChange(on: Queryable, row: BillingAccountRow, { subscription }: CustomerFacts): Promise<void> {
  await appendAudit(on, {
    accountId: row.account_id,
    actor: { kind: 'stripe', id: row.stripe_customer_id ?? 'stripe' },
    action: 'subscription.change',
    ...(subscription ? { object: { kind: 'subscription', id: subscription.id } } : {}),
    details: {
      status: subscription?.status ?? null,
      status_before: row.subscription_status,
      bought: subscription?.bought ?? 0,
      bought_before: row.bought,
      quantity: subscription?.quantity ?? 0,
      cancel_at_period_end: subscription?.cancelAtPeriodEnd ?? false,
    },
  });
}
