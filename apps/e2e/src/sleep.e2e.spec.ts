import pg from 'pg';
import { eventually } from './harness/eventually.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

/** Short enough for a journey. */
const QUICK = { 'session-worker': { SLEEP_CHECK_EVERY_MS: '200', SLEEP_QUIET_IDLE_AFTER_MS: '2000' } };
const NO_LIMITS = { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } };
const HIBERNATED = { code: 4, text: 'connected', hibernated: true };

describe('numbers that sleep', () => {
  let running: RunningStack;
  let database: pg.Client;
  let friend: VirtualPhone;
  let sleeper: LinkedChannel;

  beforeAll(async () => {
    running = await RunningStack.start({ workers: 2, env: { ...QUICK, ...NO_LIMITS } });
    database = new pg.Client({ connectionString: running.stack.databases.sg });
    await database.connect();
    friend = await running.network.createPhone();
    sleeper = await running.createLinkedChannel('sleeper');
  }, 180_000);

  afterAll(async () => {
    await database.end();
    await running.stop();
  }, 60_000);

  const untilAsleep = () =>
    eventually(
      async () => {
        const asleep = await database.query(`SELECT 1 FROM channels WHERE id = $1 AND session_state = 'hibernated'`, [
          sleeper.id,
        ]);
        return asleep.rowCount === 1;
      },
      { what: 'the number sleeps', withinMs: 60_000 },
    );

  const isConnected = async (): Promise<boolean> =>
    (await sleeper.phone.devices()).some(({ device, online }) => device === sleeper.device && online);

  const send = async (text: string): Promise<void> => {
    const { status } = await sleeper.client.post('/messages/text', { to: friend.phone, body: text });
    expect(status).toBe(200);
    await friend.waitFor({ text });
  };

  const rowsOfTheSession = async (): Promise<number> => {
    const { rows } = await database.query<{ count: number }>(
      `SELECT ((SELECT count(*) FROM auth_keys WHERE channel_id = $1) + (SELECT count(*) FROM auth_creds WHERE channel_id = $1)
         + (SELECT count(*) FROM channel_keys WHERE channel_id = $1))::int AS count`,
      [sleeper.id],
    );
    return rows[0]?.count ?? -1;
  };

  it('are healthy, have no connection and no rows, and are not woken by reads', async () => {
    await send('before the sleep');
    await untilAsleep();
    expect((await sleeper.client.get<{ status: object }>('/health')).body.status).toEqual(HIBERNATED);
    expect(await isConnected()).toBe(false);
    expect(await rowsOfTheSession()).toBe(0);
    for (const path of ['/health', '/settings', '/messages/list', '/chats']) {
      expect((await sleeper.client.get(path)).status).toBe(200);
    }
    expect(await isConnected()).toBe(false);
  }, 120_000);

  it('wake for a send, which is accepted, and tell what came meanwhile', async () => {
    await friend.send(sleeper.phone.phone, 'while you slept');
    await send('after the sleep');
    await eventually(
      async () => {
        const { body } = await sleeper.client.get<{ messages: { text?: { body: string } }[] }>('/messages/list');
        return body.messages.some(({ text }) => text?.body === 'while you slept');
      },
      { what: 'the message that came meanwhile' },
    );
  }, 60_000);

  it('sleep on while the workers are replaced, and wake under the new owner', async () => {
    await untilAsleep();
    await running.stack.restart('session-worker');
    expect(await isConnected()).toBe(false);
    await eventually(
      async () => (await sleeper.client.post('/messages/text', { to: friend.phone, body: 'new owner' })).status === 200,
      { what: 'a send under the new owner', withinMs: 60_000 },
    );
    expect((await friend.messages()).filter(({ text }) => text === 'new owner')).toHaveLength(1);
    expect((await running.network.connections()).overlaps).toBe(0);
  }, 180_000);
});
