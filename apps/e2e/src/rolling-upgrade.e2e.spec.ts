import { eventually } from './harness/eventually.js';
import { GatewayClient, type GatewayResponse } from './harness/gateway-client.js';
import { LoadBalancer } from './harness/load-balancer.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { NOTHING_BROKEN, Traffic } from './harness/traffic.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

/** A customer who makes a connection for each request: every edge gets some, and none is left open when one ends. */
class Unattached extends GatewayClient {
  override request<Body>(
    method: string,
    path: string,
    options: Parameters<GatewayClient['request']>[2] = {},
  ): Promise<GatewayResponse<Body>> {
    return super.request<Body>(method, path, { ...options, headers: { ...options.headers, connection: 'close' } });
  }
}

describe('an upgrade, one process after another, the new one ready before the old one goes', () => {
  let running: RunningStack;
  let friend: VirtualPhone;
  let hook: WebhookReceiver;
  let balancer: LoadBalancer;
  const channels: LinkedChannel[] = [];
  /** What runs of each app, the oldest first. */
  const edges: { pid: number; url: string }[] = [];
  const dispatchers: number[] = [];

  beforeAll(async () => {
    [running, hook, balancer] = await Promise.all([
      RunningStack.start({ workers: 2, shardCount: 4 }),
      WebhookReceiver.start(),
      LoadBalancer.start(),
    ]);
    const { stack } = running;
    const { 'edge-api': edge = 0, 'webhook-dispatcher': dispatcher = 0 } = stack.processes;
    const others = await Promise.all([stack.startAnother('edge-api'), stack.startAnother('webhook-dispatcher')]);
    edges.push({ pid: edge, url: running.edgeUrl }, others[0]);
    dispatchers.push(dispatcher, others[1].pid);
    for (const { url } of edges) balancer.add(url);
    friend = await running.network.createPhone();
    for (let index = 0; index < 4; index += 1) {
      const channel = await running.createLinkedChannel(`number ${index}`);
      await channel.client.request('PATCH', '/settings', {
        body: { webhooks: [{ url: hook.url, events: [{ type: 'messages', method: 'post' }] }] },
      });
      channels.push({ ...channel, client: new Unattached(balancer.url, channel.client.token) });
    }
  }, 180_000);

  afterAll(async () => {
    await Promise.all(channels.map(({ client }) => client.close()));
    await balancer.close();
    await running.stop();
    await hook.close();
  }, 60_000);

  const replaceDispatchers = async (): Promise<void> => {
    for (const old of [...dispatchers]) {
      dispatchers.push((await running.stack.startAnother('webhook-dispatcher')).pid);
      await running.stack.kill(old, 'SIGTERM');
    }
  };
  const replaceWorkers = async (): Promise<void> => {
    for (const old of running.stack.processes['session-worker']) {
      await running.stack.startAnother('session-worker');
      await running.stack.kill(old, 'SIGTERM');
    }
  };
  const replaceEdges = async (): Promise<void> => {
    for (const old of [...edges]) {
      const started = await running.stack.startAnother('edge-api');
      edges.push(started);
      balancer.add(started.url);
      await balancer.takeOut(old.url);
      await running.stack.kill(old.pid, 'SIGTERM');
    }
  };

  it('loses and doubles nothing, either way, and answers nothing but 200, or 503 with Retry-After', async () => {
    const before = new Set([
      ...running.stack.processes['session-worker'],
      ...dispatchers,
      ...edges.map(({ pid }) => pid),
    ]);
    const traffic = new Traffic({ channels, friend, hook, everyMs: 40 }).start();
    await traffic.flows();
    // All at once: whatever meets whatever. Each app goes one process after another.
    await Promise.all([replaceDispatchers(), replaceWorkers(), replaceEdges()]);
    // However fast it was: there was traffic all the time.
    expect(traffic.sends.length).toBeGreaterThan(20);
    await traffic.flows();
    const enough = (): boolean => traffic.written.length > 50 && traffic.sends.length > 100;
    await eventually(() => Promise.resolve(enough()), { what: 'texts both ways' });
    await traffic.stop();
    const { processes } = running.stack;
    const after = [...processes['session-worker'], processes['webhook-dispatcher'] ?? 0, processes['edge-api'] ?? 0];
    expect(after.filter((pid) => before.has(pid))).toEqual([]);
    expect(after).toHaveLength(4);
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    const refused = traffic.sends.filter(({ status }) => status !== 200);
    expect(refused.filter(({ status, retryAfter }) => status !== 503 || !(Number(retryAfter) > 0))).toEqual([]);
    expect((await running.network.connections()).overlaps).toBe(0);
  }, 180_000);
});
