/** What a span costs: without traces, with them, and with them where the sampler takes none. */
import { inSpan, startTraces, tracedFacts, traceparent } from '@dormouse/traces';

const ROUNDS = 5;
const CALLS = 200_000;
const FACTS = { 'messaging.system': 'bullmq', 'messaging.destination.name': 'commands.1' } as const;

const work = (): Promise<number> => Promise.resolve(1);

const CASES: Record<string, () => Promise<unknown>> = {
  'the work alone': work,
  'the work in a span': () =>
    inSpan('process commands.{shard}', { kind: 'consumer', parent: null, facts: FACTS }, work),
  'its ids for the log and for a job': () => Promise.resolve([tracedFacts(), traceparent()]),
};

/** @returns nanoseconds of a call, the best of some rounds */
async function costNs(call: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAtMs = performance.now();
    for (let n = 0; n < CALLS; n += 1) await call();
    best = Math.min(best, ((performance.now() - startedAtMs) * 1e6) / CALLS);
  }
  return best;
}

async function print(title: string): Promise<void> {
  console.log(`\n${title} (Node ${process.versions.node}), ns a call`);
  for (const [name, call] of Object.entries(CASES))
    console.log(`  ${name.padEnd(36)} ${(await costNs(call)).toFixed(0)}`);
}

export async function benchTraces(): Promise<void> {
  await print('without traces');
  // Nobody listens there: spans are made, gathered and dropped.
  const settings = {
    endpoint: 'http://127.0.0.1:9',
    headers: {},
    protocol: 'http/protobuf',
    exportEveryMs: 60_000,
  } as const;
  for (const sampler of ['always_off', 'always_on'] as const) {
    const stop = await startTraces({ ...settings, sampler, ratio: 1 }, { name: 'bench', version: '0' });
    await print(`with traces, ${sampler}`);
    await stop();
  }
}
