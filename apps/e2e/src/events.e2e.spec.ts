import { isDeepStrictEqual } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { schemaViolation, webhookViolation } from './harness/contract.js';
import { EventStream } from './harness/event-stream.js';
import { eventually } from './harness/eventually.js';
import { queryDatabase } from './harness/outages.js';
import { loginCode, RunningStack, untilConnected, untilStatus, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
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

const kindOf = ({ body }: WebhookCall): string => `${body.event?.type}.${body.event?.event}`;
const textOf = ({ body }: WebhookCall): string | undefined =>
  (body['messages'] as { text?: { body: string } }[] | undefined)?.[0]?.text?.body;
const sequencesOf = (calls: readonly WebhookCall[]): number[] =>
  calls.map(({ headers }) => Number(headers['webhook-sequence']));
const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));

describe('events', () => {
  let running: RunningStack<SharedStack>;
  /** Of all journeys but those that link or unlink; each sets webhooks of its own. */
  let channel: LinkedChannel;
  let ada: VirtualPhone;
  const receivers: WebhookReceiver[] = [];
  const receive = async (): Promise<WebhookReceiver> => {
    const started = await WebhookReceiver.start();
    receivers.push(started);
    return started;
  };
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
  /** A channel that reports everything from its link on. */
  const linkReporting = async (hook: WebhookReceiver): Promise<LinkedChannel> => {
    const { id, client } = await running.createChannel('events');
    await client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: hook.url, mode: 'path', events: TYPES.map((type) => ({ type })) }] },
    });
    const phone = await running.network.createPhone({ name: 'Shop' });
    // A state that is over before it is stored is not reported.
    await loginCode(client);
    await untilStatus(client, 'qr');
    const { device } = await eventually(async () => phone.scan(await loginCode(client)), { what: 'it is linked' });
    await untilConnected(client);
    return { id, client, phone, device };
  };
  /** Lets the pauses between attempts pass. */
  const passTime = async (ms: number): Promise<void> => {
    const earlier = (column: string): string => `${column} = ${column} - $1::float8 * interval '1 ms'`;
    const changes = [
      `webhook_held_events SET ${earlier('next_attempt_at')}, ${earlier('first_failed_at')}`,
      `webhook_cursors SET ${earlier('next_attempt_at')}`,
    ];
    for (const change of changes) await queryDatabase(running.stack.databases.sg, `UPDATE ${change}`, [ms]);
  };

  beforeAll(async () => {
    running = await RunningStack.shared();
    channel = await running.createLinkedChannel('events');
  }, 120_000);
  afterAll(() => running.stop(), 60_000);
  beforeEach(async () => {
    ada = await running.network.createPhone({ name: 'Ada' });
  });
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  });

  it('of every kind that a conversation makes arrive signed, in sequence, in the shapes of the contract', async () => {
    const hook = await receive();
    const { id, client, phone } = await linkReporting(hook);
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
      expect(webhookViolation(each.body)).toBeUndefined();
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

  it('of every kind of change arrive, each by the method that was set, in the shapes of the contract', async () => {
    const [all, puts] = [await receive(), await receive()];
    const asPut = ['messages', 'statuses', 'chats'].map((type) => ({ type, method: 'put' }));
    await setWebhooks([
      { url: all.url, events: TYPES.map((type) => ({ type })) },
      { url: puts.url, events: asPut },
    ]);
    const own = channel.phone.phone;
    const at = <T>(phone: string, path: string, body: object, method = 'POST'): Promise<T> =>
      running.network.call<T>(method, `/phones/${phone}${path}`, body);
    const { id } = await ada.send(own, 'to be changed');
    await at(ada.phone, '/messages', { to: own, edit: { id, text: 'changed' } });
    await at(ada.phone, '/messages', { to: own, delete: { id } });
    await channel.client.post('/messages/text', { to: ada.phone, body: 'How are you?' });
    await at(own, '/contacts', { who: ada.phone, name: 'Ada (work)' });
    await at(own, '/chats', { chat: ada.phone, pinned: true });
    const group = await at<{ id: string; inviteCode: string }>(ada.phone, '/groups', {
      subject: 'Neighbours',
      members: [own],
    });
    await at(ada.phone, `/groups/${group.id}`, { subject: 'Good neighbours' }, 'PATCH');
    await at(ada.phone, `/groups/${group.id}/members`, { action: 'promote', members: [own] });
    // Requests to join a group whose admins decide are reported to an admin alone.
    await at(ada.phone, `/groups/${group.id}`, { approval: true }, 'PATCH');
    const asker = await running.network.createPhone({ name: 'Andy Asker' });
    await at(asker.phone, '/join', { code: group.inviteCode });
    await at(asker.phone, `/groups/${group.id}/requests`, {}, 'DELETE');
    await at(asker.phone, '/join', { code: group.inviteCode });
    await at(ada.phone, `/groups/${group.id}/requests`, { action: 'reject', members: [asker.phone] });
    await at(asker.phone, '/join', { code: group.inviteCode });
    await at(ada.phone, `/groups/${group.id}/requests`, { action: 'approve', members: [asker.phone] });
    const changes = ['messages.patch', 'messages.delete', 'chats.patch', 'contacts.post', 'contacts.patch'];
    const both = [...changes, 'statuses.post', 'groups.post', 'groups.put', 'groups.patch'];
    const received = (hooked: WebhookReceiver, kinds: readonly string[]) =>
      eventually(() => Promise.resolve(kinds.every((kind) => hooked.calls.some((call) => kindOf(call) === kind))), {
        what: `each of ${kinds.join(', ')}`,
      });
    await received(all, both);
    await received(puts, ['messages.put', 'statuses.put', 'chats.put']);
    const steps = ['request', 'revoke_request', 'request', 'rejected_request', 'request', 'add'];
    const ofAsker = () =>
      all.calls.flatMap(({ body }) => {
        const [change] = (body['groups_participants'] ?? []) as { participants: string[]; action: string }[];
        return change?.participants[0] === asker.phone ? [change.action] : [];
      });
    await eventually(() => Promise.resolve(isDeepStrictEqual(ofAsker(), steps)), { what: 'the steps of the request' });
    // What comes while no worker runs is a put, for webhooks that want both.
    await running.stack.restart('session-worker', {
      whileDown: async () => void (await ada.send(own, 'while you were away')),
    });
    const away = await all.waitFor('what came meanwhile', (call) => textOf(call) === 'while you were away');
    expect([kindOf(away), away.method]).toEqual(['messages.put', 'POST']);
    expect(all.calls.filter((call) => kindOf(call) === 'messages.put').map(textOf)).toEqual(['while you were away']);
    await at(own, '/chats', { chat: ada.phone, delete: true });
    await received(all, ['chats.delete']);
    expect(new Set(puts.calls.map(kindOf))).toEqual(new Set(['messages.put', 'statuses.put', 'chats.put']));
  }, 90_000);

  it('can be fetched instead of received, the same ones', async () => {
    const hook = await receive();
    const { id: channelId, client, phone } = await linkReporting(hook);
    await ada.send(phone.phone, 'Hello');
    expect((await client.post('/messages/text', { to: ada.phone, body: 'Welcome' })).status).toBe(200);
    const kinds = ['channel.post', 'users.post', 'messages.post', 'statuses.post', 'chats.post'];
    await eventually(() => Promise.resolve(kinds.every((kind) => hook.calls.some((each) => kindOf(each) === kind))), {
      what: `each of ${kinds.join(', ')}`,
    });
    const { body } = await running.management.call<{ events: { id: string; sequence: number; body: object }[] }>(
      'GET',
      `/channels/${channelId}/events?count=1000`,
    );
    const received = new Map(hook.calls.map((call) => [String(call.headers['webhook-id']), call.body]));
    const fetched = new Map(body.events.map((event) => [event.id, event.body]));
    for (const [id, each] of received) expect(fetched.get(id)).toEqual(each);
    expect(isAscending(body.events.map(({ sequence }) => sequence))).toBe(true);
  }, 60_000);

  it('are streamed as they happen: resumed where it broke off, alive in silence, ended at a stop, released', async () => {
    const { stack } = running;
    const url = `${stack.urls.controlPlane}/api/v1/channels/${channel.id}/events`;
    const open = (from?: number): Promise<EventStream> => EventStream.open(url, stack.accountKey, from);
    const withText =
      (text: string) =>
      ({ body }: { body: WebhookCall['body'] }): boolean =>
        JSON.stringify(body).includes(text);
    const { body } = await running.management.call<{ cursor: string }>(
      'GET',
      `/channels/${channel.id}/events?cursor=latest`,
    );
    const first = await open(Number(body.cursor));
    await ada.send(channel.phone.phone, 'streamed');
    const streamed = await first.waitFor(withText('streamed'));
    expect(webhookViolation(streamed.body)).toBeUndefined();
    first.leave();
    await ada.send(channel.phone.phone, 'missed');
    const again = await open(streamed.sequence);
    await again.waitFor(withText('missed'));
    expect(again.events.some(withText('streamed'))).toBe(false);
    // A channel may have ten streams; each that was closed is released.
    for (let round = 0; round < 15; round += 1) (await eventually(() => open(), { what: 'a place' })).leave();
    const nine = await Promise.all(Array.from({ length: 9 }, () => eventually(() => open(), { what: 'a place' })));
    await expect(open()).rejects.toThrow('429');
    await again.until(() => again.beats > 0);
    await Promise.all([...nine.map(({ ended }) => ended), again.ended, stack.restart('control-plane')]);
    const last = await open(again.events.at(-1)?.sequence);
    await ada.send(channel.phone.phone, 'after the stop');
    await last.waitFor(withText('after the stop'));
    expect(isAscending([...again.events, ...last.events].map(({ sequence }) => sequence))).toBe(true);
    last.leave();
  }, 90_000);

  it('in mode method come by the method of their kind; in mode body all to one address', async () => {
    const [method, body] = [await receive(), await receive()];
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
  });

  it('outlast a receiver that refuses, resets, hangs and is gone for most of an hour, in order, none lost', async () => {
    const [bad, good] = [await receive(), await receive()];
    await setWebhooks([bad, good].map(({ url }) => ({ url })));
    // A kept connection that breaks at once is retried at once: only the second reset counts.
    const answers = [500, 'reset', 'reset', 404, 404, 'hang'] as const;
    bad.answer = () => answers[bad.attempts.length - 1] ?? (bad.attempts.length % 3 === 0 ? 'slow-body' : 204);
    const texts = Array.from({ length: 6 }, (_, index) => `unruly ${index}`);
    for (const text of texts) await ada.send(channel.phone.phone, text);
    // The other webhook is called at once, whatever the first one does.
    await good.waitFor('the last', (call) => textOf(call) === texts.at(-1));
    const seen = (): Promise<boolean> => Promise.resolve(bad.attempts.length > answers.length);
    const pauses = setInterval(() => void passTime(600_000).catch(() => undefined), 300);
    await eventually(seen, { what: 'attempts until the receiver is back', withinMs: 100_000 });
    await bad.waitFor('the last', (call) => textOf(call) === texts.at(-1));
    clearInterval(pauses);
    expect(bad.calls.map(textOf)).toEqual(texts);
    expect(new Set(bad.attempts.slice(0, answers.length).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(good.calls.map(textOf)).toEqual(texts);
    const log = await running.management.call<{ deliveries: { outcome: string; status?: number; error?: string }[] }>(
      'GET',
      `/channels/${channel.id}/webhooks/${(await webhookOf(channel.id)).id}/deliveries`,
    );
    const failures = log.body.deliveries.filter(({ outcome }) => outcome === 'failed').toReversed();
    expect(failures.map(({ status, error }) => status ?? error)).toEqual([500, 'connection lost', 404, 404, 'timeout']);
  }, 120_000);

  it('that are always answered 500 hold up their chat only, are set aside, and are shown so', async () => {
    const bot = await receive();
    const bea = await running.network.createPhone({ name: 'Bea' });
    const own = channel.phone.phone;
    bot.answer = (call) => (textOf(call) === '42' ? 500 : 200);
    await setWebhooks([{ url: bot.url }]);
    const { id } = await webhookOf(channel.id);
    const shown = () => webhookOf(channel.id);
    await ada.send(own, '42');
    await eventually(() => Promise.resolve(bot.attempts.length > 0), { what: 'a first attempt' });
    await ada.send(own, 'and you?');
    await bea.send(own, 'hello');
    await bot.waitFor('another chat', (call) => textOf(call) === 'hello');
    await eventually(async () => (await shown())['held'] === 2, { what: 'both events of the chat held' });
    expect(bot.calls.map(textOf)).toEqual(['hello']);
    await passTime(16 * 60_000);
    await bot.waitFor('the chat going on', (call) => textOf(call) === 'and you?');
    expect(await shown()).toMatchObject({ held: 0, set_aside: 1, backlog: { events: 1 } });
    const log = await running.management.call<{ deliveries: { outcome: string }[] }>(
      'GET',
      `/channels/${channel.id}/webhooks/${id}/deliveries`,
    );
    expect(log.body.deliveries.map(({ outcome }) => outcome)).toContain('set_aside');
  }, 90_000);

  it('that were not accepted in 72 h are listed, and delivered again on request, as is a test event', async () => {
    const late = await receive();
    const early = await receive();
    await setWebhooks([{ url: early.url }]);
    await ada.send(channel.phone.phone, 'Hello');
    await early.waitFor('the first message', (call) => textOf(call) === 'Hello');
    late.answer = () => 503;
    await setWebhooks([{ url: late.url }]);
    await ada.send(channel.phone.phone, 'too late');
    await eventually(() => Promise.resolve(late.attempts.length > 0), { what: 'a first attempt' });
    const { id } = await webhookOf(channel.id);
    const path = `/channels/${channel.id}/webhooks/${id}`;
    for (const change of ['events SET created_at = created_at', 'webhook_cursors SET since = since']) {
      const earlier = `UPDATE ${change} - interval '73 hours' WHERE channel_id = $1`;
      await queryDatabase(running.stack.databases.sg, earlier, [channel.id]);
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
  }, 60_000);

  it('report that the number was unlinked', async () => {
    const last = await receive();
    const { client, phone, device } = await linkReporting(last);
    await phone.unlink(device);
    const { body } = await last.waitFor('users.delete', (call) => kindOf(call) === 'users.delete');
    expect(schemaViolation('HookUsersDelete', body)).toBeUndefined();
    expect(body['user']).toMatchObject({ id: phone.phone });
    await untilStatus(client, 'not_linked');
  }, 60_000);
});
