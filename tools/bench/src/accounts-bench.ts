/**
 * What accounts and money cost: from a payment to a served number, sessions and sign-ins beside everything else, and a sweep over
 * many accounts. There is no bare Baileys to compare with; the goals stand beside the figures.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { NO_RATE_LIMITS, onStack } from './bench-stack.js';
import type { Summary } from './latencies.js';
import { measurePayments, type PaymentFigures } from './payments.js';
import { measureSignIns, type SignInFigures } from './sign-ins.js';
import { SimulatedStripe } from './simulated-stripe.js';
import { measureSweep, SWEEP_EVERY_S, type SweepFigures } from './sweep-figures.js';
import { printTable } from './table.js';
import { World } from './world.js';

const PARTS = ['payments', 'sessions', 'sweep'];

/** Parts that are named, or all; `--accounts`: how many pay, with webhooks and without; `--swept`: how many are swept. */
function readOptions(): { parts: string[]; accounts: number; swept: number } {
  const { values, positionals } = parseArgs({
    options: { accounts: { type: 'string', default: '30' }, swept: { type: 'string', default: '10000' } },
    allowPositionals: true,
  });
  const named = positionals.slice(1);
  const unknown = named.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part ${unknown}; there are ${PARTS.join(', ')}.`);
  const parts = named.length > 0 ? named : PARTS;
  return { parts, accounts: Number(values.accounts), swept: Number(values.swept) };
}

export async function benchAccounts(): Promise<void> {
  const { parts, accounts, swept } = readOptions();
  let payments: PaymentFigures | undefined;
  let signIns: SignInFigures | undefined;
  let sweep: SweepFigures | undefined;
  if (parts.includes('payments') || parts.includes('sessions')) {
    const env = { 'edge-api': NO_RATE_LIMITS, 'control-plane': { FAILED_SIGN_INS_PER_NETWORK: '0' } };
    await onStack({ billing: true, env }, async (stack) => {
      if (parts.includes('sessions')) signIns = await measureSignIns(stack);
      if (!parts.includes('payments')) return;
      const stripe = new SimulatedStripe(stack);
      payments = await measurePayments(stack, new World(stack), stripe, accounts);
      await stripe.close();
    });
  }
  if (parts.includes('sweep')) {
    await onStack({ billing: true, env: { billing: { SWEEP_EVERY_S: String(SWEEP_EVERY_S) } } }, async (stack) => {
      const stripe = new SimulatedStripe(stack);
      sweep = await measureSweep(stack, stripe, swept);
      await stripe.close();
    });
  }
  report(payments, signIns);
  if (sweep) reportSweep(sweep);
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)}`);
}

function report(payments: PaymentFigures | undefined, signIns: SignInFigures | undefined): void {
  const row = (name: string, { count, p50Ms, p95Ms }: Summary, goal: string): string[] => [
    name,
    String(count),
    p50Ms.toFixed(1),
    p95Ms.toFixed(1),
    goal,
  ];
  const rows: string[][] = [];
  if (payments) {
    rows.push(row('link of a second number to 402 at the edge', payments.refused, 'p95 5,000'));
    rows.push(row('payment to 200 at the edge, by webhook', payments.byWebhook, 'p95 2,000'));
    rows.push(row('payment to 200 at the edge, without webhooks', payments.withoutWebhooks, 'p95 60,000'));
  }
  if (signIns) {
    const { byKey, bySession, signIns: ins, others } = signIns;
    rows.push(row('management request by account key', byKey, ''));
    rows.push(row('the same by session', bySession, `p50 ${(byKey.p50Ms + 5).toFixed(1)}`));
    rows.push(row('sign-ins, 20 a second', ins, 'p95 1,000'));
    rows.push(row('other management requests meanwhile, 50 a second', others, 'p95 100'));
  }
  if (rows.length > 0) printTable([['', 'count', 'p50 ms', 'p95 ms', 'goal, ms'], ...rows]);
}

function reportSweep({ accounts, differing, found, touched, ...rest }: SweepFigures): void {
  printTable([
    ['a sweep', '', 'goal'],
    ['accounts', String(accounts), ''],
    ['of them differ from Stripe, found, touched', `${differing}, ${found}, ${touched}`, 'as many'],
    ['requests at Stripe, repairs included', String(rest.requests), ''],
    ['seconds', rest.seconds.toFixed(1), ''],
    ['requests a second, mean', rest.perSecond.toFixed(1), ''],
    ['requests a second, most', String(rest.peakPerSecond), 'below 20'],
  ]);
}
