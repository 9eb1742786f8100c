/** One sweep over many accounts, some of which differ from Stripe: what it requests there, and whom it touches. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@dormouse/stack';
import { progress } from './bench-stack.js';
import type { SimulatedStripe, StripeRequest } from './simulated-stripe.js';
import { makePayingAccounts, readSince } from './swept-accounts.js';
import { sumOf } from './metrics-page.js';

/** How often billing sweeps in this benchmark: less than it takes to make the accounts, so that one is due when they are. */
export const SWEEP_EVERY_S = 30;
const DIFFERING = 25;
const ENDS_WITHIN_MS = 600_000;
const SETTLES_WITHIN_MS = 120_000;
const SECOND_MS = 1_000;

export interface SweepFigures {
  accounts: number;
  differing: number;
  /** Those that the sweep found. */
  found: number;
  /** Accounts whose facts were read one by one. */
  touched: number;
  requests: number;
  /** From the first request to the last, the repairs included. */
  seconds: number;
  perSecond: number;
  /** The most in any second. */
  peakPerSecond: number;
}

export async function measureSweep(stack: Stack, stripe: SimulatedStripe, accounts: number): Promise<SweepFigures> {
  await stripe.setWebhooks('lose');
  let from = 0;
  let since = new Date();
  await stack.restart('billing', {
    whileDown: async () => {
      const subscriptions = await makePayingAccounts(stack, stripe, accounts);
      for (let index = 0; index < DIFFERING; index += 1) {
        const one = subscriptions[Math.floor((index * accounts) / DIFFERING)];
        if (one) await change(stripe, one, index);
      }
      from = (await stripe.requestsAfter(0)).at(-1)?.number ?? 0;
      since = new Date();
    },
  });
  progress('the sweep');
  const found = await ended(stack);
  const touched = await settled(stack, since);
  const requests = await ofOneSweep(stripe, from);
  return { accounts, differing: DIFFERING, found, touched, requests: requests.length, ...rateOf(requests) };
}

/** What no webhook tells: a cancellation, or another quantity. */
async function change(
  stripe: SimulatedStripe,
  { id, items }: { id: string; items: { data: { id: string }[] } },
  index: number,
): Promise<void> {
  if (index % 2 === 0) {
    await stripe.api('DELETE', `/v1/subscriptions/${id}`);
    return;
  }
  await stripe.api('POST', `/v1/subscriptions/${id}`, {
    'items[0][id]': items.data[0]?.id ?? '',
    'items[0][quantity]': '3',
    proration_behavior: 'none',
  });
}

/** Resolves when the first sweep of the process has ended. @returns how many accounts it found to differ */
async function ended({ probes }: Stack): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    if (performance.now() - startedAt > ENDS_WITHIN_MS) throw new Error('no sweep has ended');
    await delay(250);
    const text = await (await fetch(`${probes.billing[0] ?? ''}/metrics`)).text();
    if ((sumOf(text, 'dormouse_billing_sweep_ended_timestamp_seconds') ?? 0) > 0) {
      return sumOf(text, 'dormouse_billing_differences_total') ?? 0;
    }
  }
}

/** Waits until those that differ were read; more than those are found by waiting a moment longer. */
async function settled(stack: Stack, since: Date): Promise<number> {
  const startedAt = performance.now();
  let before = -1;
  for (;;) {
    const count = await readSince(stack, since);
    if (count >= DIFFERING && count === before) return count;
    if (performance.now() - startedAt > SETTLES_WITHIN_MS) return count;
    before = count;
    await delay(2 * SECOND_MS);
  }
}

/** Requests up to the one that begins the next sweep. */
async function ofOneSweep(stripe: SimulatedStripe, from: number): Promise<StripeRequest[]> {
  const requests = await stripe.requestsAfter(from);
  const begins = ({ method, path, parameters }: StripeRequest): boolean =>
    method === 'GET' && path === '/v1/customers' && parameters['starting_after'] === undefined;
  const first = requests.findIndex(begins);
  const next = requests.findIndex((request, index) => index > first && begins(request));
  return requests.slice(first, next === -1 ? undefined : next);
}

function rateOf(requests: readonly StripeRequest[]): Pick<SweepFigures, 'seconds' | 'perSecond' | 'peakPerSecond'> {
  const times = requests.map(({ atMs }) => atMs);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / SECOND_MS;
  let [start, peakPerSecond] = [0, 0];
  times.forEach((atMs, index) => {
    while ((times[start] ?? atMs) <= atMs - SECOND_MS) start += 1;
    peakPerSecond = Math.max(peakPerSecond, index - start + 1);
  });
  return { seconds, perSecond: requests.length / seconds, peakPerSecond };
}
