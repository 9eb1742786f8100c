import { eventually } from './harness/eventually.js';
import { queryDatabase } from './harness/outages.js';
import { type LinkedChannel, RunningStack, untilConnected } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

describe('a session worker that is killed', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let friend: VirtualPhone;

  beforeAll(async () => {
    running = await RunningStack.shared();
    friend = await running.network.createPhone();
    channel = await running.createLinkedChannel('crash');
    await channel.client.post('/messages/text', { to: friend.phone, body: 'before' });
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  beforeEach(() => untilConnected(channel.client), 60_000);

  it('between accepting a command and answering it: the caller gets 502 and the text arrives at most once', async () => {
    const { id: fault } = await running.network.addFault({ kind: 'hold-acks', phone: channel.phone.phone });
    const answer = channel.client.post('/messages/text', { to: friend.phone, body: 'cut off' });
    await friend.waitFor({ text: 'cut off' }); // on the wire, but not acknowledged: the command is under way
    await running.stack.killWorkers('SIGKILL');
    await running.network.removeFault(fault);
    await running.stack.startWorker();
    expect((await answer).status).toBe(502);

    await untilConnected(channel.client);
    expect((await channel.client.post('/messages/text', { to: friend.phone, body: 'after' })).status).toBe(200);
    await friend.waitFor({ text: 'after' });
    const received = (await friend.messages()).filter(({ text }) => text === 'cut off');
    expect(received).toHaveLength(1);
  }, 120_000);

  it('while idle: it serves again without a scan', async () => {
    await running.stack.killWorkers('SIGKILL');
    await running.stack.startWorker();
    await untilConnected(channel.client);
    expect((await channel.client.post('/messages/text', { to: friend.phone, body: 'again' })).status).toBe(200);
    expect((await friend.waitFor({ text: 'again' })).deliveries).toBe(1);
  }, 120_000);

  it('and finds the keys of its conversations spoiled: it agrees on new ones, and nothing is lost either way', async () => {
    const { client, id, phone } = channel;
    await running.stack.killWorkers('SIGKILL');
    const spoiled = await queryDatabase(
      running.stack.databases.sg,
      `UPDATE auth_keys SET sealed = decode('00', 'hex') WHERE channel_id = $1 AND type = 'session' RETURNING id`,
      [id],
    );
    expect(spoiled.length).toBeGreaterThan(1); // with the friend and with the own phone
    await running.stack.startWorker();
    await untilConnected(client);
    await friend.send(phone.phone, 'can you read me?');
    await eventually(
      async () => {
        const { body } = await client.get<{ messages: { text?: { body: string } }[] }>(
          `/messages/list/${friend.phone}`,
        );
        return body.messages.some(({ text }) => text?.body === 'can you read me?');
      },
      { what: 'the message of the friend' },
    );
    for (const text of ['I can', 'and still can']) {
      expect((await client.post('/messages/text', { to: friend.phone, body: text })).status).toBe(200);
      await friend.waitFor({ text });
      await phone.waitFor({ text });
    }
  }, 120_000);
});
