import { type LinkedChannel, RunningStack, untilConnected } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

describe('a session worker that is killed', () => {
  let running: RunningStack;
  let channel: LinkedChannel;
  let friend: VirtualPhone;

  beforeAll(async () => {
    running = await RunningStack.start();
    friend = await running.network.createPhone();
    channel = await running.createLinkedChannel('crash');
    await channel.client.post('/messages/text', { to: friend.phone, body: 'before' });
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  it('between taking a command and answering it: the caller gets 502 and the text arrives at most once', async () => {
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
    const heard = (await friend.messages()).filter(({ text }) => text === 'cut off');
    expect(heard).toHaveLength(1);
  }, 120_000);

  it('while idle: it serves again without a scan', async () => {
    await running.stack.killWorkers('SIGKILL');
    await running.stack.startWorker();
    await untilConnected(channel.client);
    expect((await channel.client.post('/messages/text', { to: friend.phone, body: 'again' })).status).toBe(200);
    expect((await friend.waitFor({ text: 'again' })).deliveries).toBe(1);
  }, 120_000);
});
