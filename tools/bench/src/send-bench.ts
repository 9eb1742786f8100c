import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack } from '@dormouse/stack';
import { Pool } from 'undici';
import { linkBareNumber, silenceLibsignal, type BareNumber } from './bare-baileys.js';
import { measure, type Summary } from './latencies.js';
import { printTable } from './table.js';

/** How many numbers send, how many sends are under way at once, and how many are sent in all. */
const ROUNDS = [
  { numbers: 1, inFlight: 1, total: 300 },
  { numbers: 10, inFlight: 10, total: 1_000 },
  { numbers: 50, inFlight: 50, total: 2_000 },
];
const MOST_NUMBERS = Math.max(...ROUNDS.map(({ numbers }) => numbers));

interface GatewayNumber {
  token: string;
}

async function call<T>(url: string, init: { method?: string; token?: string; body?: unknown } = {}): Promise<T> {
  const response = await fetch(url, {
    method: init.method ?? 'GET',
    headers: {
      ...(init.token === undefined ? {} : { authorization: `Bearer ${init.token}` }),
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
  if (!response.ok)
    throw new Error(`${init.method ?? 'GET'} ${new URL(url).pathname}: ${response.status} ${await response.text()}`);
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return (isJson ? await response.json() : await response.arrayBuffer()) as T;
}

const createPhone = (simulator: string) => call<{ phone: string }>(`${simulator}/phones`, { method: 'POST', body: {} });

async function linkGatewayNumber(stack: Stack, simulator: string): Promise<GatewayNumber> {
  const { token } = await call<{ token: string }>(`${stack.urls.controlPlane}/api/v1/channels`, {
    method: 'POST',
    token: stack.accountKey,
    body: { name: 'bench', region: 'sg' },
  });
  const { phone } = await createPhone(simulator);
  const code = await stack.readLoginCode(token);
  await call(`${simulator}/phones/${phone}/scan`, { method: 'POST', body: { qr: code } });
  for (;;) {
    const { status } = await call<{ status: { text: string } }>(`${stack.urls.edge.sg}/health`, { token });
    if (status.text === 'connected') return { token };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function benchGateway(
  edge: string,
  numbers: readonly GatewayNumber[],
  to: string,
  round: (typeof ROUNDS)[number],
): Promise<Summary> {
  const pool = new Pool(edge, { connections: round.inFlight });
  const summary = await measure(async (index) => {
    const number = numbers[index % round.numbers];
    const response = await pool.request({
      method: 'POST',
      path: '/messages/text',
      headers: { authorization: `Bearer ${number?.token ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, body: `text ${index}` }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
  }, round);
  await pool.close();
  return summary;
}

function benchBare(numbers: readonly BareNumber[], to: string, round: (typeof ROUNDS)[number]): Promise<Summary> {
  return measure(async (index) => numbers[index % round.numbers]?.sendText(to, `text ${index}`), round);
}

const ms = (value: number) => value.toFixed(1);
const ratio = (ours: number, bare: number) => `${(ours / bare).toFixed(2)}x`;

function report(results: readonly { round: (typeof ROUNDS)[number]; bare: Summary; gateway: Summary }[]): void {
  printTable([
    ['numbers', 'who', 'sends', 'p50 ms', 'p95 ms', 'p99 ms', 'per second'],
    ...results.flatMap(({ round, bare, gateway }) => [
      ...[['bare Baileys', bare] as const, ['Dormouse', gateway] as const].map(([who, summary]) => [
        String(round.numbers),
        who,
        String(summary.count),
        ms(summary.p50Ms),
        ms(summary.p95Ms),
        ms(summary.p99Ms),
        summary.perSecond.toFixed(0),
      ]),
      [
        '',
        'ratio',
        '',
        ratio(gateway.p50Ms, bare.p50Ms),
        ratio(gateway.p95Ms, bare.p95Ms),
        ratio(gateway.p99Ms, bare.p99Ms),
        ratio(gateway.perSecond, bare.perSecond),
      ],
    ]),
  ]);
}

/** POST /messages/text through the whole stack, beside the same sends by bare Baileys to the same simulator. */
export async function benchSend(): Promise<void> {
  silenceLibsignal();
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  console.error('Starting the stack ...');
  const stack = await startStack({
    dataDir,
    network: 'simulator',
    logs: 'silent',
    env: { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } },
  });
  try {
    const simulator = stack.urls.simulator;
    if (simulator === undefined) throw new Error('the stack has no simulated network');
    const { socketUrl } = await call<{ socketUrl: string }>(`${simulator}/network`);
    const { phone: to } = await createPhone(simulator);
    console.error(`Linking ${MOST_NUMBERS} numbers each ...`);
    const bareNumbers: BareNumber[] = [];
    const gatewayNumbers: GatewayNumber[] = [];
    for (let index = 0; index < MOST_NUMBERS; index++) {
      gatewayNumbers.push(await linkGatewayNumber(stack, simulator));
      const { phone } = await createPhone(simulator);
      bareNumbers.push(
        await linkBareNumber(socketUrl, (qr) =>
          call(`${simulator}/phones/${phone}/scan`, { method: 'POST', body: { qr } }),
        ),
      );
    }
    const results = [];
    for (const round of ROUNDS) {
      console.error(`${round.total} sends over ${round.numbers} ...`);
      // The first sends open Signal sessions; they are not what is measured.
      await benchBare(bareNumbers, to, { ...round, total: round.numbers });
      await benchGateway(stack.urls.edge.sg, gatewayNumbers, to, { ...round, total: round.numbers });
      const bare = await benchBare(bareNumbers, to, round);
      const gateway = await benchGateway(stack.urls.edge.sg, gatewayNumbers, to, round);
      results.push({ round, bare, gateway });
    }
    for (const number of bareNumbers) number.end();
    report(results);
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
