import { Webhook } from 'standardwebhooks';
import { schemaViolation } from './harness/contract.js';
import { eventually } from './harness/eventually.js';
import { queryDatabase } from './harness/outages.js';
import { loginCode, RunningStack, untilConnected, untilStatus, type LinkedChannel } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver, type WebhookCall } from './harness/webhook-receiver.js';

const TYPES = [
  'messages',
  'statuses',
  'chats',
  'contacts',
  'groups',
  'presences',
  'calls',
  'users',
  'channel',
] as const;
/** The one key of each kind's payload. */
const ENVELOPE = new Set(['event', 'channel_id']);

const kindOf = ({ body }: WebhookCall): string => `${body.event?.type}.${body.event?.event}`;
const schemaOf = (kind: string): string => {
  const [type = '', method = ''] = kind.split('.');
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  return `Hook${capital(type)}${capital(method)}`;
};
const textOf = ({ body }: WebhookCall): string | undefined =>
  (body['messages'] as { text?: { body: string } }[] | undefined)?.[0]?.text?.body;
const sequencesOf = (calls: readonly WebhookCall[]): number[] =>
  calls.map(({ headers }) => Number(headers['webhook-sequence']));
const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));

describe('events', () => {
  let running: RunningStack;
  let hook: WebhookReceiver;
  let channel: LinkedChannel;
  let ada: VirtualPhone;
  const webhookOf = async (id: string, at = 0): Promise<Record<string, unknown> & { id: string }> => {
    const { body } = await running.management.call<{ webhooks: { id: string }[] }>('GET', `/channels/${id}/webhooks`);
    const found = body.webhooks[at];
    if (!found) throw new Error('no such webhook');
    return found;
  };
  const setWebhooks = async (webhooks: object[]): Promise<void> => {
    const { status } = await channel.client.request('PATCH', '/settings', { body: { webhooks } });
    expect(status).toBe(200);
  };
  /** Lets the waits between attempts pass. */
  const passTime = (ms: number) =>
    queryDatabase(
      running.stack.databases.sg,
      `UPDATE webhook_cursors SET next_attempt_at = next_attempt_at - $1::float8 * interval '1 ms'`,
      [ms],
    );

  beforeAll(async () => {
    running = await RunningStack.start();
    hook = await WebhookReceiver.start();
    ada = await running.network.createPhone({ name: 'Ada' });
  }, 120_000);
  afterAll(async () => {
    await running.stop();
    await hook.close();
  }, 60_000);

  it('of every kind that a conversation makes arrive signed, in sequence, in the shapes of the contract', async () => {
    const { id, client } = await running.createChannel('events');
    await client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: hook.url, mode: 'path', events: TYPES.map((type) => ({ type })) }] },
    });
    const phone = await running.network.createPhone({ name: 'Shop' });
    const { device } = await phone.scan(await loginCode(client));
    await untilConnected(client);
    channel = { id, client, phone, device };
    await ada.send(phone.phone, 'Hello');
    const sent = await client.post<{ message: { id: string } }>('/messages/text', { to: ada.phone, body: 'Welcome' });
    expect(sent.status).toBe(200);
    await ada.waitFor({ text: 'Welcome' });
    await ada.read(phone.phone);
    await running.network.call('POST', `/phones/${ada.phone}/typing`, { to: phone.phone, state: 'composing' });
    const call = await running.network.call<{ id: string }>('POST', `/phones/${ada.phone}/calls`, { to: phone.phone });
    await running.network.call('DELETE', `/phones/${ada.phone}/calls/${call.id}?to=${phone.phone}`);
    const expected = ['channel.post', 'channel.patch', 'users.post', 'messages.post', 'statuses.post', 'chats.post'];
    const kinds = [...expected, 'presences.post', 'calls.post'];
    await eventually(() => Promise.resolve(kinds.every((kind) => hook.calls.some((each) => kindOf(each) === kind))), {
      what: `each of ${kinds.join(', ')}`,
    });
    const secret = await running.management.call<{ secrets: { secret: string }[] }>(
      'GET',
      `/channels/${id}/webhook-secret`,
    );
    const signer = new Webhook(secret.body.secrets[0]?.secret ?? '');
    for (const each of hook.calls) {
      expect(schemaViolation(schemaOf(kindOf(each)), each.body)).toBeUndefined();
      expect(Object.keys(each.body).filter((key) => !ENVELOPE.has(key))).toHaveLength(1);
      expect(each.path).toBe(`/hook/${kindOf(each).replace('.', '/')}`);
      const headers = Object.fromEntries(Object.entries(each.headers).map(([name, value]) => [name, String(value)]));
      expect(signer.verify(JSON.stringify(each.body), headers)).toEqual(each.body);
    }
    expect(isAscending(sequencesOf(hook.calls))).toBe(true);
    const health = hook.calls.filter((each) => kindOf(each) === 'channel.post').map(({ body }) => body['health']);
    const texts = health.map((each) => (each as { status: { text: string } }).status.text);
    expect(texts).toEqual(expect.arrayContaining(['initializing', 'qr', 'connected']));
    const calls = hook.calls.filter((each) => kindOf(each) === 'calls.post').map(({ body }) => body['calls']);
    expect(calls[0]).toMatchObject([{ id: call.id, from: `${ada.phone}@s.whatsapp.net`, status: 'initiated' }]);
  }, 60_000);

  it('can be fetched instead of received, the same ones', async () => {
    const { body } = await running.management.call<{ events: { id: string; sequence: number; body: object }[] }>(
      'GET',
      `/channels/${channel.id}/events?count=1000`,
    );
    const told = new Map(hook.calls.map((call) => [String(call.headers['webhook-id']), call.body]));
    const fetched = new Map(body.events.map((event) => [event.id, event.body]));
    for (const [id, each] of told) expect(fetched.get(id)).toEqual(each);
    expect(isAscending(body.events.map(({ sequence }) => sequence))).toBe(true);
  });

  it('in mode method come by the method of their kind; in mode body all to one address', async () => {
    const [method, body] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
    await setWebhooks([
      { url: method.url, mode: 'method', events: [{ type: 'message', method: 'post' }], headers: { 'X-Key': 'k' } },
      { url: `${body.url}?key=1`, events: [{ type: 'messages' }, { type: 'ack' }] },
    ]);
    await ada.send(channel.phone.phone, 'both');
    const [byMethod, byBody] = [
      await method.waitFor('both', (call) => textOf(call) === 'both'),
      await body.waitFor('both', (call) => textOf(call) === 'both'),
    ];
    expect([byMethod.method, byMethod.path, byMethod.headers['x-key']]).toEqual(['POST', '/hook/messages', 'k']);
    expect([byBody.method, byBody.path]).toEqual(['POST', '/hook?key=1']);
    expect(byBody.body).toEqual(byMethod.body);
    await Promise.all([method.close(), body.close()]);
  });

  it('outlast a receiver that refuses, resets, hangs and is gone for most of an hour, in order, none lost', async () => {
    const [bad, good] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
    await setWebhooks([bad, good].map(({ url }) => ({ url })));
    // A kept line that breaks at once is tried again at once: only the second reset counts.
    const answers = [500, 'reset', 'reset', 404, 404, 'hang'] as const;
    bad.answer = () => answers[bad.attempts.length - 1] ?? (bad.attempts.length % 3 === 0 ? 'slow-body' : 204);
    const texts = Array.from({ length: 6 }, (_, index) => `unruly ${index}`);
    for (const text of texts) await ada.send(channel.phone.phone, text);
    // The other webhook is told at once, whatever the first one does.
    await good.waitFor('the last', (call) => textOf(call) === texts.at(-1));
    const seen = (): Promise<boolean> => Promise.resolve(bad.attempts.length > answers.length);
    const waits = setInterval(() => void passTime(600_000).catch(() => undefined), 300);
    await eventually(seen, { what: 'attempts until the receiver is back', withinMs: 100_000 });
    await bad.waitFor('the last', (call) => textOf(call) === texts.at(-1));
    clearInterval(waits);
    expect(bad.calls.map(textOf)).toEqual(texts);
    expect(new Set(bad.attempts.slice(0, answers.length).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(good.calls.map(textOf)).toEqual(texts);
    const log = await running.management.call<{ deliveries: { outcome: string; status?: number; error?: string }[] }>(
      'GET',
      `/channels/${channel.id}/webhooks/${(await webhookOf(channel.id)).id}/deliveries`,
    );
    const failures = log.body.deliveries.filter(({ outcome }) => outcome === 'failed').toReversed();
    expect(failures.map(({ status, error }) => status ?? error)).toEqual([500, 'connection lost', 404, 404, 'timeout']);
    await Promise.all([bad.close(), good.close()]);
  }, 120_000);

  it('nobody took in 72 h are listed, and told once more on demand; a test event comes when asked for', async () => {
    const late = await WebhookReceiver.start();
    late.answer = () => 503;
    await setWebhooks([{ url: late.url }]);
    await ada.send(channel.phone.phone, 'too late');
    await eventually(() => Promise.resolve(late.attempts.length > 0), { what: 'a first attempt' });
    const { id } = await webhookOf(channel.id);
    const path = `/channels/${channel.id}/webhooks/${id}`;
    for (const change of ['events SET created_at = created_at', 'webhook_cursors SET since = since']) {
      await queryDatabase(running.stack.databases.sg, `UPDATE ${change} - interval '73 hours'`);
    }
    await passTime(3_600_000);
    const dead = await eventually(
      async () => {
        const { body } = await running.management.call<{ dead_letters: { sequence: number }[]; total: number }>(
          'GET',
          `${path}/dead-letters`,
        );
        return body.total > 0 && body.dead_letters;
      },
      { what: 'a dead letter' },
    );
    late.answer = () => 200;
    await running.management.call('POST', `${path}/dead-letters/redrive`, { sequences: [dead[0]?.sequence] });
    await late.waitFor('the dead letter', (call) => textOf(call) === 'too late');
    await running.management.call('POST', `${path}/test`);
    const test = await late.waitFor('the test event', (call) => textOf(call) === 'This is a test event.');
    expect(schemaViolation('HookMessagesPost', test.body)).toBeUndefined();
    await running.management.call('POST', `${path}/replay`, { from: 0 });
    await late.waitFor('the first message again', (call) => textOf(call) === 'Hello');
    await late.close();
  }, 60_000);

  it('tell that the number was unlinked', async () => {
    const last = await WebhookReceiver.start();
    await setWebhooks([{ url: last.url, events: [{ type: 'users' }, { type: 'channel' }] }]);
    await channel.phone.unlink(channel.device);
    const { body } = await last.waitFor('users.delete', (call) => kindOf(call) === 'users.delete');
    expect(schemaViolation('HookUsersDelete', body)).toBeUndefined();
    expect(body['user']).toMatchObject({ id: channel.phone.phone });
    await untilStatus(channel.client, 'not_linked');
    await last.close();
  }, 30_000);
});
