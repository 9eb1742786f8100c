import { eventually } from './harness/eventually.js';
import { flushRedis, restartPostgres } from './harness/outages.js';
import { RunningStack, type LinkedChannel } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver, type WebhookCall } from './harness/webhook-receiver.js';

const textOf = ({ body }: WebhookCall): string =>
  (body['messages'] as { text?: { body: string } }[] | undefined)?.[0]?.text?.body ?? '';
const idOf = ({ headers }: WebhookCall): string => String(headers['webhook-id']);

/** Each event once, where it was received first: duplicates carry the id of the first. */
function once(calls: readonly WebhookCall[]): WebhookCall[] {
  const ids = new Set<string>();
  return calls.filter((call) => !ids.has(idOf(call)) && ids.add(idOf(call)));
}

describe('events, while things break', () => {
  let running: RunningStack;
  let hook: WebhookReceiver;
  let channel: LinkedChannel;
  let ada: VirtualPhone;
  let written = 0;
  let attempts = 0;

  beforeAll(async () => {
    // Durable: a server that restarts must have stored what it confirmed. Apps that die are started again.
    running = await RunningStack.start({ fast: false });
    hook = await WebhookReceiver.start();
    ada = await running.network.createPhone({ name: 'Ada' });
    channel = await running.createLinkedChannel('outages');
    await channel.client.request('PATCH', '/settings', { body: { webhooks: [{ url: hook.url }] } });
  }, 180_000);
  afterAll(async () => {
    await running.stop();
    await hook.close();
  }, 60_000);

  const kill = (app: 'webhook-dispatcher' | 'session-worker'): Promise<void> => {
    const found = running.stack.processes[app];
    const [pid] = Array.isArray(found) ? found : [found];
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    return Promise.resolve();
  };

  it.each<[string, () => Promise<void>]>([
    ['Redis is flushed', () => flushRedis(running.stack.redis.sg)],
    ['the dispatcher is killed', () => kill('webhook-dispatcher')],
    ['PostgreSQL restarts', () => restartPostgres(running.stack.databases.sg)],
    ['the session worker is killed', () => kill('session-worker')],
    ['a receiver fails now and then', async () => void (hook.answer = () => ((attempts += 1) % 3 === 0 ? 500 : 200))],
  ])(
    'are all delivered, in order, duplicates under the same id: %s',
    async (_what, breakIt) => {
      const before = hook.calls.length;
      const texts = Array.from({ length: 30 }, () => `message ${(written += 1)}`);
      for (const [index, text] of texts.entries()) {
        await ada.send(channel.phone.phone, text);
        if (index === 12) await breakIt();
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      hook.answer = () => 200;
      const received = (): WebhookCall[] => once(hook.calls).filter((call) => texts.includes(textOf(call)));
      await eventually(() => Promise.resolve(received().length >= texts.length), {
        what: 'all texts received',
        withinMs: 60_000,
      });
      expect(received().map(textOf)).toEqual(texts);
      expect(new Set(received().map(({ body }) => (body['messages'] as { id: string }[])[0]?.id)).size).toBe(
        texts.length,
      );
      const sequences = once(hook.calls.slice(before)).map(({ headers }) => Number(headers['webhook-sequence']));
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    },
    120_000,
  );
});
