import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Stack, StoreAddresses } from '@dormouse/stack';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { ManagementClient } from './harness/management-client.js';
import { RegionWays } from './harness/region-ways.js';
import {
  loginCode,
  NO_RATE_LIMITS,
  RunningStack,
  untilConnected,
  type LinkedChannel,
} from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface Listed {
  messages: { text?: { body: string } }[];
}

const SWITCHES = {
  ...NO_RATE_LIMITS,
  'session-worker': { SLEEP_CHECK_EVERY_MS: '200', SLEEP_QUIET_IDLE_AFTER_MS: '2000' },
};
/** Within this time of the answer to a rotation no edge accepts the former token. */
const REVOKED_WITHIN_MS = 2_000;
/** Within this time of its return a region has what was wanted of it. */
const ARRIVES_WITHIN_MS = 2_000;
/** A bad way between continents. */
const SLOW = { delayMs: 250, loss: 0.02 };

/** Its own servers of both regions and of the global database, so that each can be taken away. */
describe('two regions', () => {
  let running: RunningStack<Stack<'sg' | 'eu'>>;
  let channel: LinkedChannel;
  let friend: VirtualPhone;
  let webhook: WebhookReceiver;
  /** The way of edges to the edge of `sg`. */
  let toEdge: FaultProxy;
  /** All ways to `eu`. */
  let waysToEu: RegionWays;

  const switches = async ({ regions }: StoreAddresses<'sg' | 'eu'>) => {
    [toEdge, waysToEu] = [await FaultProxy.to(regions.sg.edgeUrl), await RegionWays.to(regions.eu)];
    const hosts = { sg: new URL(toEdge.url).origin, eu: waysToEu.edgeUrl };
    const entries = (app: 'control-plane' | 'billing') => {
      const { databaseUrl, redisUrl, objects: storage } = regions.sg.accounts[app];
      const sg = { databaseUrl, redisUrl, gatewayUrl: regions.sg.edgeUrl, storage };
      return { REGIONS: JSON.stringify({ sg, eu: waysToEu.entry(regions.eu, app) }) };
    };
    return {
      ...SWITCHES,
      'control-plane': entries('control-plane'),
      billing: entries('billing'),
      'edge-api': { ...NO_RATE_LIMITS['edge-api'], RATE_BAD_TOKENS: 'off', REGION_HOSTS: JSON.stringify(hosts) },
    };
  };

  beforeAll(async () => {
    running = await RunningStack.start({
      regions: ['sg', 'eu'],
      ownDatabaseServers: true,
      billing: true,
      env: switches,
    });
    friend = await running.network.createPhone({ name: 'Fred Friend' });
    webhook = await WebhookReceiver.start();
    channel = await running.createLinkedChannel('alone');
  }, 180_000);
  afterAll(async () => {
    await running.stop();
    await Promise.all([webhook.close(), toEdge.close(), waysToEu.close()]);
  }, 60_000);

  /** Edges of both regions, under the host that passes requests on. */
  const everywhere = (token: string): [sg: GatewayClient, eu: GatewayClient] => {
    const { sg, eu } = running.stack.urls.edge;
    const at = (url: string): GatewayClient => running.client(token, url.replace('127.0.0.1', 'localhost'));
    return [at(sg), at(eu)];
  };

  it('refuse a token within 2 s of its replacement, at home and at the other edge, and take the new one', async () => {
    for (const region of ['sg', 'eu'] as const) {
      const { id, token } = await running.management.createChannel(`of ${region}`, region);
      const former = everywhere(token);
      const statuses = async (clients: GatewayClient[]): Promise<number[]> =>
        Promise.all(clients.map(async (client) => (await client.get('/health')).status));
      expect(await statuses(former)).toEqual([200, 200]); // both edges have looked it up
      const replaced = await running.management.rotateToken(id);
      const replacedAtMs = performance.now();
      await eventually(async () => (await statuses(former)).every((status) => status === 401), {
        what: 'the former token is refused at both edges',
      });
      expect(performance.now() - replacedAtMs).toBeLessThan(REVOKED_WITHIN_MS);
      expect(await statuses(everywhere(replaced))).toEqual([200, 200]);
    }
  }, 60_000);

  /** A channel of `eu` that is linked to a number. */
  const linkFar = async (): Promise<{ id: string; token: string }> => {
    const channelOfEu = await running.management.createChannel('far', 'eu');
    const client = running.client(channelOfEu.token, running.stack.urls.edge.eu);
    const phone = await running.network.createPhone({ name: 'Far' });
    await eventually(async () => phone.scan(await loginCode(client)), { what: 'the code is scanned' });
    await untilConnected(client);
    return channelOfEu;
  };

  it('have the newest token, a deletion and a standing within 2 s of the return of a region that was away', async () => {
    const { management, stack } = running;
    const operator = new ManagementClient(stack.urls.controlPlane, stack.operatorKey);
    const gift = `/fleet/accounts/${stack.installation.facts.accountId}/free-numbers`;
    await operator.call('PUT', gift, { numbers: 5, reason: 'until it ends' });
    const [replaced, deleted, unpaid] = await Promise.all([
      management.createChannel('replaced', 'eu'),
      management.createChannel('deleted', 'eu'),
      linkFar(),
    ]);
    const billed = async () => (await management.call<{ numbers: number }>('GET', '/billing')).body.numbers === 2;
    await eventually(billed, { what: 'billing has both numbers' });
    const statuses = async (tokens: string[]): Promise<number[]> =>
      Promise.all(tokens.flatMap(everywhere).map(async (client) => (await client.get('/settings')).status));
    expect(new Set(await statuses([replaced.token, deleted.token, unpaid.token]))).toEqual(new Set([200]));

    waysToEu.cutOff();
    const former = await management.rotateToken(replaced.id);
    const newest = await management.rotateToken(replaced.id);
    expect(await management.deleteChannel(deleted.id)).toBe(503);
    expect((await operator.call('DELETE', gift)).status).toBe(200);
    const global = new pg.Client({ connectionString: stack.databases.global });
    await global.connect();
    const decided = `SELECT 1 FROM channel_standings WHERE channel_id = $1 AND standing = 'over_free_allowance'`;
    await eventually(async () => (await global.query(decided, [unpaid.id])).rowCount === 1, {
      what: 'it is to be paid',
    });
    await global.end();

    const clients = [newest, former, replaced.token, deleted.token, unpaid.token].map(everywhere);
    const found = () =>
      Promise.all(
        clients.map((each) => Promise.all(each.map(async (client) => (await client.get('/settings')).status))),
      );
    const expected = [200, 401, 401, 401, 402].map((status) => [status, status]);
    waysToEu.restore();
    const backAtMs = performance.now();
    await eventually(async () => JSON.stringify(await found()) === JSON.stringify(expected), {
      what: 'both edges answer as the control plane wants',
    });
    expect(performance.now() - backAtMs).toBeLessThan(ARRIVES_WITHIN_MS);
  }, 90_000);

  it('pass on over a way of 250 ms that loses 2 %: sends, reads and files arrive once and whole', async () => {
    toEdge.slowDown(SLOW);
    toEdge.cut(); // connections of before
    const { eu } = running.stack.urls.edge;
    const far = running.client(channel.client.token, eu.replace('127.0.0.1', 'localhost'));
    const bodies = ['one', 'two', 'three'].map((body) => `${body} from far away`);
    const bytes = randomBytes(100_000);
    const [kept, ...sent] = await Promise.all([
      fetch(`${eu.replace('127.0.0.1', 'localhost')}/media`, {
        method: 'POST',
        headers: { authorization: `Bearer ${channel.client.token}`, 'content-type': 'application/octet-stream' },
        body: bytes,
      }),
      ...bodies.map((body) => far.post('/messages/text', { to: friend.phone, body })),
    ]);
    expect([kept.status, ...sent.map(({ status }) => status)]).toEqual([200, 200, 200, 200]);
    const { id } = (await kept.json()) as { id: string };
    const [file, list] = await Promise.all([
      far.get(`/media/${id}`),
      far.get<Listed>('/messages/list'),
      ...bodies.map((text) => friend.waitFor({ text })),
    ]);
    expect(file.bytes.equals(bytes)).toBe(true);
    expect(list.body.messages.map(({ text }) => text?.body)).toEqual(expect.arrayContaining(bodies));
    const arrived = (await friend.messages()).map(({ text }) => text).filter((text) => text?.endsWith('from far away'));
    expect(arrived.sort()).toEqual(bodies.sort());
    toEdge.slowDown(undefined);
    toEdge.cut();
  }, 60_000);

  describe('one of them alone, without control plane, billing, global database and the other region', () => {
    let unlinked: { id: string; client: GatewayClient };
    /** Of a channel of the other region, at the edge of this one. */
    let elsewhere: GatewayClient;
    let database: pg.Client;

    beforeAll(async () => {
      unlinked = await running.createChannel('linked while alone');
      const { token } = await running.management.createChannel('of the other', 'eu');
      [elsewhere] = everywhere(token);
      expect((await elsewhere.get('/health')).status).toBe(200);
      database = new pg.Client({ connectionString: running.stack.databases.sg });
      await database.connect();
      const { eu, postgres, billing, 'control-plane': controlPlane } = running.stack.processes;
      const taken = [
        controlPlane,
        billing,
        eu['edge-api'],
        eu['webhook-dispatcher'],
        ...eu['session-worker'],
        eu.redis,
      ];
      for (const pid of taken) if (pid !== undefined) process.kill(pid, 'SIGKILL');
      // SIGQUIT ends a PostgreSQL server at once, with all its processes.
      for (const pid of [postgres, eu.postgres]) if (pid !== undefined) process.kill(pid, 'SIGQUIT');
      const away = [running.stack.urls.controlPlane, running.stack.urls.edge.eu];
      await waysToEu.close();
      await eventually(
        async () =>
          (await Promise.allSettled(away.map((url) => fetch(url)))).every(({ status }) => status === 'rejected'),
        { what: 'everything else is away' },
      );
      const stores = [running.stack.databases.global, running.stack.databases.eu].map((connectionString) =>
        new pg.Client({ connectionString }).connect(),
      );
      expect((await Promise.allSettled(stores)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    }, 60_000);
    afterAll(() => database.end());

    const send = async (body: string): Promise<void> => {
      expect(await channel.client.post('/messages/text', { to: friend.phone, body })).toMatchObject({ status: 200 });
      await friend.waitFor({ text: body });
    };
    const untilAsleep = (): Promise<unknown> =>
      eventually(
        async () => {
          const query = `SELECT 1 FROM channels WHERE id = $1 AND session_state = 'hibernated'`;
          return (await database.query(query, [channel.id])).rowCount === 1;
        },
        { what: 'the number sleeps' },
      );

    it('puts numbers to sleep and wakes them for a send', async () => {
      await send('before the sleep');
      await untilAsleep();
      await send('out of the sleep');
    }, 60_000);

    it('sends, receives, reads, and delivers to webhooks', async () => {
      const settings = { webhooks: [{ url: webhook.url }] };
      expect((await channel.client.request('PATCH', '/settings', { body: settings })).status).toBe(200);
      await friend.send(channel.phone.phone, 'to whom is alone');
      await webhook.waitFor('what the friend sent', ({ body }) => JSON.stringify(body).includes('to whom is alone'));
      const { body } = await channel.client.get<Listed>('/messages/list');
      expect(body.messages.map(({ text }) => text?.body)).toContain('to whom is alone');
    }, 60_000);

    it('links a number by its code', async () => {
      const phone = await running.network.createPhone({ name: 'Newcomer' });
      await eventually(async () => phone.scan(await loginCode(unlinked.client)), { what: 'the code is scanned' });
      await untilConnected(unlinked.client);
      const sent = await unlinked.client.post('/messages/text', { to: friend.phone, body: 'linked alone' });
      expect(sent.status).toBe(200);
      await friend.waitFor({ text: 'linked alone' });
    }, 60_000);

    it('goes on when its worker and its edge end and start again', async () => {
      const own = ['session-worker', 'edge-api'] as const;
      await Promise.all(own.map((app) => running.stack.restart(app, { region: 'sg' })));
      await send('after the restart');
      await friend.send(channel.phone.phone, 'after the restart, too');
      await webhook.waitFor('what the friend sent', ({ body }) => JSON.stringify(body).includes('restart, too'));
    }, 60_000);

    it('answers 503 with a time to wait for a channel of the region that is away', async () => {
      const away = await elsewhere.post('/messages/text', { to: friend.phone, body: 'too far away' });
      expect(away.status).toBe(503);
      expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    });
  });
});
