import { once } from 'node:events';
import { connect } from 'node:net';
import { createTestDatabase, recordPlanModes } from '@dormouse/stack/test-stores';
import { RunningEdge } from './test-edge.js';

jest.setTimeout(30_000);

const hello = { to: '15550001111', body: 'Hello' };

describe('an edge', () => {
  it('finishes what is under way when it drains, is not ready meanwhile, and then takes nothing more', async () => {
    const edge = await RunningEdge.start();
    await edge.ready();
    const channel = await edge.channel();
    let finish: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => {
      edge.worker(channel, async () => {
        resolve();
        await new Promise<void>((resolve) => (finish = resolve));
        return { ok: true, result: { sent: true } };
      });
    });
    const underWay = edge.ask('POST /messages/text', { token: channel.token, body: hello });
    await taken;
    const stopped = edge.stop();
    await expect(fetch(`${edge.url}/healthz`)).rejects.toThrow();
    expect(await (await fetch(`${edge.probesUrl}/readyz`)).json()).toEqual({ status: 'draining' });
    finish();
    expect((await underWay).status).toBe(200);
    await stopped;
    await expect(fetch(`${edge.url}/healthz`)).rejects.toThrow();
  });

  it('ends at once while a client holds a connection on which it has sent nothing yet', async () => {
    const edge = await RunningEdge.start();
    await edge.ready();
    const { hostname, port } = new URL(edge.url);
    const early = connect(Number(port), hostname);
    early.on('error', () => undefined).resume();
    await once(early, 'connect');
    expect((await edge.ask('GET /healthz')).status).toBe(200); // what came before it has been accepted
    const ended = once(early, 'close');
    await edge.stop();
    await ended;
  });

  it('without Redis answers what is stored, and 503 to what needs a worker; it is not ready', async () => {
    const edge = await RunningEdge.start({ REDIS_URL: 'redis://127.0.0.1:1' });
    const { token } = await edge.channel();
    expect((await edge.ask('GET /chats', { token })).status).toBe(200);
    expect((await edge.ask('GET /health', { token })).status).toBe(200);
    expect((await edge.ask('PATCH /settings', { token, body: { auto_read: true } })).status).toBe(200);
    const send = await edge.ask('POST /messages/text', { token, body: hello });
    expect(send.error).toMatchObject({ code: 503, details: 'the command queue is not reachable' });
    expect(send.headers.get('retry-after')).toBe('3');
    const ready = await fetch(`${edge.probesUrl}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', missing: ['commands'] }]);
    expect((await edge.ask('GET /healthz')).status).toBe(200);
    await edge.stop();
  });

  it('without Redis limits by itself', async () => {
    const edge = await RunningEdge.start({ REDIS_URL: 'redis://127.0.0.1:1', RATE_OTHER: '2/60' });
    const { token } = await edge.channel();
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await edge.ask('GET /chats', { token })).status);
    expect(statuses).toEqual([200, 200, 429]);
    await edge.stop();
  });

  it('without PostgreSQL answers 503, since it cannot look up tokens', async () => {
    const edge = await RunningEdge.start({ REGIONAL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
    const { token } = await edge.channel();
    const answer = await edge.ask('GET /chats', { token });
    expect(answer.error).toMatchObject({ code: 503, details: 'the channel directory is not reachable' });
    expect(answer.headers.get('retry-after')).toBe('3');
    await edge.stop();
  });

  it('has PostgreSQL plan each of its statements once per connection', async () => {
    const store = await createTestDatabase('regional');
    const edge = await RunningEdge.start({ REGIONAL_DATABASE_URL: store.url }, store.url);
    const { token } = await edge.channel();
    const planModes = await recordPlanModes(store.url, 'channels');
    expect((await edge.ask('PATCH /settings', { token, body: { auto_read: true } })).status).toBe(200);
    expect(await planModes('edge-api')).toEqual(['force_generic_plan']);
    await edge.stop();
    await store.drop();
  });
});
