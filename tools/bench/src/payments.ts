/** From a payment on the hosted page of Checkout until the number that it pays for is served at the edge. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import { progress } from './bench-stack.js';
import { summarize, type Summary } from './latencies.js';
import type { SimulatedStripe } from './simulated-stripe.js';
import type { LinkedChannel, World } from './world.js';

/** How often billing looks at an account with something open; payments without webhooks come at all times of it. */
const LOOKED_AT_EVERY_MS = 45_000;
const LINKING_AT_ONCE = 4;
const PAYMENT_REQUIRED = 402;
/** Nothing else may delay an account for so long. */
const SERVED_WITHIN_MS = 180_000;

/** An account with a free number and one that is not paid for. */
interface Buyer {
  key: string;
  unpaid: LinkedChannel;
  /** From the link of the second number until a send of it is refused. */
  refusedAfterMs: number;
}

export interface PaymentFigures {
  byWebhook: Summary;
  withoutWebhooks: Summary;
  /** From the link of a second number until a send of it is refused. */
  refused: Summary;
}

/** @param accounts how many pay, with webhooks and then without any */
export async function measurePayments(
  stack: Stack,
  world: World,
  stripe: SimulatedStripe,
  accounts: number,
): Promise<PaymentFigures> {
  const friend = await world.newPhone();
  progress(`linking two numbers of each of ${2 * accounts} accounts`);
  const buyers = await makeBuyers(stack, world, friend, 2 * accounts);
  progress('payments with webhooks, one after the other');
  const startedAt = performance.now();
  const latenciesMs: number[] = [];
  for (const buyer of buyers.slice(0, accounts)) {
    latenciesMs.push(await untilServed(world, buyer, friend, await paying(stack, world, stripe, buyer), 20));
  }
  const byWebhook = summarize(latenciesMs, performance.now() - startedAt);
  const withoutWebhooks = await payWithoutWebhooks(stack, world, stripe, friend, buyers.slice(accounts));
  const refusals = buyers.map(({ refusedAfterMs }) => refusedAfterMs);
  const refused = summarize(
    refusals,
    refusals.reduce((sum, ms) => sum + ms, 0),
  );
  return { byWebhook, withoutWebhooks, refused };
}

async function payWithoutWebhooks(
  stack: Stack,
  world: World,
  stripe: SimulatedStripe,
  friend: string,
  buyers: readonly Buyer[],
): Promise<Summary> {
  progress('payments without webhooks, spread over the time between two looks');
  await stripe.setWebhooks('lose');
  const startedAt = performance.now();
  const pages = await Promise.all(buyers.map((buyer) => paying(stack, world, stripe, buyer)));
  const latenciesMs = await Promise.all(
    buyers.map(async (buyer, index) => {
      await delay((index * LOOKED_AT_EVERY_MS) / buyers.length);
      return untilServed(world, buyer, friend, pages[index] ?? (() => Promise.resolve()), 200);
    }),
  );
  await stripe.setWebhooks('send');
  return summarize(latenciesMs, performance.now() - startedAt);
}

/** Opens the page of Checkout. @returns pays there */
async function paying(
  { urls }: Stack,
  world: World,
  stripe: SimulatedStripe,
  { key }: Buyer,
): Promise<() => Promise<void>> {
  const { url } = await world.call<{ url: string }>(`${urls.controlPlane}/api/v1/billing/checkout`, 'POST', {}, key);
  return () => stripe.payCheckout(url);
}

/** @returns milliseconds from the payment to the first send that is accepted */
async function untilServed(
  world: World,
  { unpaid }: Buyer,
  friend: string,
  pay: () => Promise<void>,
  pollMs: number,
): Promise<number> {
  const paidAt = performance.now();
  await pay();
  await untilStatus(world, unpaid, friend, { status: 200, insteadOf: PAYMENT_REQUIRED, pollMs });
  return performance.now() - paidAt;
}

async function untilStatus(
  world: World,
  channel: LinkedChannel,
  friend: string,
  { status, insteadOf, pollMs }: { status: number; insteadOf: number; pollMs: number },
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const found = await world.send(channel, friend, 'hello');
    if (found === status) return;
    if (found !== insteadOf) throw new Error(`a send was answered with ${found}`);
    if (performance.now() - startedAt > SERVED_WITHIN_MS) throw new Error(`sends are still answered with ${found}`);
    await delay(pollMs);
  }
}

async function makeBuyers(stack: Stack, world: World, friend: string, count: number): Promise<Buyer[]> {
  const keys = await makeAccounts(stack.databases.global, count);
  const buyers: Buyer[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let key = keys[next++]; key !== undefined; key = keys[next++]) {
      await world.link(undefined, key);
      const unpaid = await world.link(undefined, key);
      const linkedAt = performance.now();
      await untilStatus(world, unpaid, friend, { status: PAYMENT_REQUIRED, insteadOf: 200, pollMs: 200 });
      buyers.push({ key, unpaid, refusedAfterMs: performance.now() - linkedAt });
    }
  };
  await Promise.all(Array.from({ length: LINKING_AT_ONCE }, lane));
  return buyers;
}

/** @returns a key of each */
async function makeAccounts(globalDatabaseUrl: string, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => `dmk_${randomBytes(32).toString('base64url')}`);
  const connection = new pg.Client({ connectionString: globalDatabaseUrl });
  await connection.connect();
  try {
    for (const [index, key] of keys.entries()) {
      const id = `acc_bench_${index}`;
      const scopes = ['billing:read', 'billing:write', 'channels:read', 'channels:write'];
      await connection.query('INSERT INTO accounts (id, name) VALUES ($1, $1)', [id]);
      await connection.query(
        'INSERT INTO account_keys (id, account_id, key_hash, label, scopes) VALUES ($1, $1, $2, $1, $3)',
        [id, createHash('sha256').update(key).digest(), scopes],
      );
    }
  } finally {
    await connection.end();
  }
  return keys;
}
