import { readFile } from 'node:fs/promises';
import { eventually } from './harness/eventually.js';
import { ManagementClient } from './harness/management-client.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

interface Worker {
  id: string;
  living: boolean;
  shards: number[];
  state: string;
}
interface Shard {
  shard: number;
  owner?: string;
  epoch: number;
  state: string;
}
interface Session {
  id: string;
  shard: number;
  state: string;
}
interface Figures {
  workers: { living: number; draining: number };
  shards: { total: number; without_owner: number };
  sessions: Record<string, number>;
  sleeping: { count: number };
  wakes: { count: number; p50_ms?: number; p95_ms?: number; max_ms?: number };
}

const METRICS_PAGE = new URL('../../../docs/metrics.md', import.meta.url);

describe('operators', () => {
  let running: RunningStack;
  let operator: ManagementClient;
  let friend: VirtualPhone;
  const channels: LinkedChannel[] = [];

  beforeAll(async () => {
    running = await RunningStack.start({ workers: 2 });
    operator = new ManagementClient(running.stack.urls.controlPlane, running.stack.operatorKey);
    friend = await running.network.createPhone();
    for (const name of ['one', 'two', 'three']) channels.push(await running.createLinkedChannel(name));
  }, 120_000);
  afterAll(() => running.stop(), 60_000);

  // What a journey that failed may have left: a worker that drains, a number that sleeps.
  beforeEach(async () => {
    for (const { id } of await workers()) await request('DELETE', `/workers/${id}/drain`);
    // A shard that a journey moved stays where it is, so the shares may differ by one.
    await eventually(async () => (await workers()).every(({ shards }) => Math.abs(shards.length - 4) <= 1), {
      what: 'two workers share the shards',
      withinMs: 40_000,
    });
    for (const { id } of channels) {
      await eventually(async () => (await request('POST', `/channels/${id}/wake`)).status === 200, { what: 'awake' });
    }
  }, 60_000);

  const request = async <T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> =>
    operator.call<T>(method, `/fleet/sg${path}`, body);
  const figures = async (): Promise<Figures> => (await request<Figures>('GET', '')).body;
  const workers = async (): Promise<Worker[]> => (await request<{ workers: Worker[] }>('GET', '/workers')).body.workers;
  const sessionOf = async ({ id }: LinkedChannel): Promise<Session> =>
    (await request<Session>('GET', `/channels/${id}`)).body;
  const shardOf = async (channel: LinkedChannel): Promise<Shard> =>
    (await request<Shard>('GET', `/shards/${(await sessionOf(channel)).shard}`)).body;
  const channel = (index: number): LinkedChannel => {
    const found = channels[index];
    if (!found) throw new Error(`no channel ${index}`);
    return found;
  };

  /** Sends until it is accepted; only what surely was not sent (503) is sent again. */
  const send = async ({ client }: LinkedChannel, text: string): Promise<void> => {
    await eventually(
      async () => {
        const { status } = await client.post('/messages/text', { to: friend.phone, body: text });
        if (status !== 200 && status !== 503) throw new Error(`a send was answered with ${status}`);
        return status === 200;
      },
      { what: `${text} is accepted`, withinMs: 30_000 },
    );
  };
  const arrivedOnce = async (texts: string[]): Promise<void> => {
    await Promise.all(texts.map((text) => friend.waitFor({ text })));
    const got = (await friend.messages()).map(({ text }) => text).filter((text) => text && texts.includes(text));
    expect(got.toSorted()).toEqual(texts.toSorted());
    expect((await running.network.connections()).overlaps).toBe(0);
  };

  it('see the fleet in figures; a customer does not', async () => {
    // Two workers may still be sharing the shards, one of which has no owner while it changes hands.
    const settled = await eventually(
      async () => {
        const { shards } = (await request<{ shards: Shard[] }>('GET', '/shards')).body;
        if (!shards.every(({ state }) => state === 'settled')) return undefined;
        const found = await figures();
        return found.sessions['open'] === 3 && found.shards.without_owner === 0 ? found : undefined;
      },
      { what: 'three open sessions, and eight shards that are settled' },
    );
    expect(settled).toMatchObject({
      workers: { living: 2, draining: 0 },
      shards: { total: 8, without_owner: 0 },
      sessions: { open: 3, hibernated: 0 },
    });
    const { total } = (await request<{ total: number }>('GET', '/channels?state=open')).body;
    expect(total).toBe(3);
    expect((await running.management.call('GET', '/fleet/sg')).status).toBe(403);
  }, 30_000);

  it('move a shard with a live number while texts are sent: none is lost, none arrives twice, one socket', async () => {
    const before = await shardOf(channel(0));
    const target = (await workers()).find(({ id }) => id !== before.owner)?.id;
    const texts: string[] = [];
    let sent = 0;
    let last = Number.POSITIVE_INFINITY;
    const sending = (async () => {
      while (sent < last) {
        const text = `moving ${texts.length}`;
        texts.push(text);
        await send(channel(0), text);
        sent += 1;
      }
    })();
    await eventually(() => Promise.resolve(sent >= 5), { what: 'a few are sent' });
    const place = () => request<Shard>('PUT', `/shards/${before.shard}/placement`, { worker: target });
    expect((await place()).status).toBe(202);
    const done = await eventually(async () => ((await place()).status === 200 ? shardOf(channel(0)) : undefined), {
      what: 'the shard is where it was placed',
      withinMs: 30_000,
    });
    last = sent + 5;
    expect(done).toMatchObject({ owner: target, state: 'settled', epoch: before.epoch + 1 });
    await sending;
    await arrivedOnce(texts);
  }, 60_000);

  it('drain a worker: the other one serves all numbers; undrained it takes its share again', async () => {
    const { owner } = await shardOf(channel(0));
    const drain = () => request<Worker>('PUT', `/workers/${owner}/drain`);
    expect(await drain()).toMatchObject({ status: 202, body: { state: 'draining' } });
    const texts = channels.map((_, index) => `draining ${index}`);
    await Promise.all(channels.map((one, index) => send(one, texts[index] ?? '')));
    await eventually(async () => (await drain()).status === 200, { what: 'the worker is empty', withinMs: 40_000 });
    await eventually(async () => (await figures()).shards.without_owner === 0, { what: 'the other has all shards' });
    expect(await figures()).toMatchObject({ workers: { living: 2, draining: 1 } });
    await Promise.all(channels.map((one, index) => send(one, `drained ${index}`)));
    await arrivedOnce([...texts, ...channels.map((_, index) => `drained ${index}`)]);
    expect((await request('DELETE', `/workers/${owner}/drain`)).status).toBe(200);
    await eventually(async () => (await workers()).every(({ shards }) => shards.length === 4), {
      what: 'four shards each again',
      withinMs: 40_000,
    });
  }, 90_000);

  it('put a number to sleep and wake it, and the figures show it', async () => {
    const sleeper = channel(1);
    const act = async (what: 'sleep' | 'wake', state: string): Promise<void> => {
      const done = await eventually(
        async () => {
          const answer = await request<Session>('POST', `/channels/${sleeper.id}/${what}`);
          return answer.status === 200 ? answer.body : undefined; // 503: it is in use, or its shard moves
        },
        { what: `${what} is done`, withinMs: 30_000 },
      );
      expect(done).toMatchObject({ id: sleeper.id, state });
    };
    const isOnline = async () =>
      (await sleeper.phone.devices()).some(({ device, online }) => device === sleeper.device && online);
    await act('sleep', 'hibernated');
    await eventually(async () => !(await isOnline()), { what: 'its socket is closed' });
    expect(await figures()).toMatchObject({ sleeping: { count: 1 }, sessions: { hibernated: 1 } });
    await act('wake', 'open');
    expect(await isOnline()).toBe(true);
    const wakes = await eventually(
      async () => {
        const { wakes: counted } = await figures();
        return counted.count > 0 ? counted : undefined;
      },
      { what: 'the wake is counted' },
    );
    const { p50_ms: p50 = 0, p95_ms: p95 = 0, max_ms: max = 0 } = wakes;
    expect(p50).toBeGreaterThan(0);
    expect([p50 <= p95, p95 <= max]).toEqual([true, true]);
    await send(sleeper, 'after the wake');
    await arrivedOnce(['after the wake']);
  }, 60_000);

  it('have a page that lists every metric of every app, with its kind and labels, and no other', async () => {
    const page = documented(await readFile(METRICS_PAGE, 'utf8'));
    const { probes } = running.stack;
    for (const app of ['edge-api', 'session-worker', 'webhook-dispatcher', 'control-plane'] as const) {
      const [url] = probes[app];
      const exposed = scraped(await (await fetch(`${url}/metrics`)).text());
      const expected = new Map([...(page.get('Every app') ?? []), ...(page.get(app) ?? [])]);
      expect({ app, metrics: [...exposed.keys()].toSorted() }).toEqual({
        app,
        metrics: [...expected.keys()].toSorted(),
      });
      for (const [name, { type, labels }] of exposed) {
        const known = expected.get(name);
        expect({ app, name, type }).toEqual({ app, name, type: known?.type });
        expect({ app, name, unknown: [...labels].filter((label) => !known?.labels.has(label)) }).toEqual({
          app,
          name,
          unknown: [],
        });
      }
    }
  }, 30_000);
});

interface Metric {
  type: string;
  labels: Set<string>;
}

/** Names by the heading they stand under: rows `| \`name\` | type | \`label\`, … | meaning |`. */
function documented(page: string): Map<string, Map<string, Metric>> {
  const found = new Map<string, Map<string, Metric>>();
  let section = new Map<string, Metric>();
  for (const line of page.split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading) found.set(heading, (section = new Map()));
    const [, name, type = '', labels = ''] = /^\| `(\w+)` *\| (\w+) *\|([^|]*)\|/.exec(line) ?? [];
    if (name)
      section.set(name, { type, labels: new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)) });
  }
  return found;
}

/** What an app exposes beyond the process's and the runtime's own metrics. */
function scraped(text: string): Map<string, Metric> {
  const found = new Map<string, Metric>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    if (!/^(process|nodejs)_/.test(name)) found.set(name, { type, labels: new Set() });
  }
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    const metric = found.get(sample) ?? found.get(sample.replace(/_(bucket|sum|count)$/, ''));
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g))
      if (label !== 'app' && label !== 'le') metric?.labels.add(label);
  }
  return found;
}
