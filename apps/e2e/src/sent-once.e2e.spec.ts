import { FILM, OPUS, type SampleFile } from '@dormouse/stack/sample-files';
import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { MessageJourney, networkId, type Sent, type WireMessage } from './harness/message-journey.js';
import { RunningStack, untilConnected, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { png, WebSite } from './harness/web-site.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

type Refusal = { error: { code: number; details: string } };
type Body = Record<string, unknown>;

const VCARD = 'BEGIN:VCARD\nVERSION:3.0\nFN:Carl Card\nTEL;waid=15550007777:+1 555 000 7777\nEND:VCARD';
const base64 = ({ type, bytes }: SampleFile) => `data:${type};base64,${bytes.toString('base64')}`;
const key = (value: string) => ({ headers: { 'idempotency-key': value } });

describe('what is sent once', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let journey: MessageJourney;
  let client: GatewayClient;
  let ada: VirtualPhone;
  let bo: VirtualPhone;
  let webhook: WebhookReceiver;
  let page: WebSite;
  let group: string;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    page = await WebSite.start();
    channel = await running.createLinkedChannel('Olive Owner');
    client = channel.client;
    ada = await running.network.createPhone({ name: 'Ada Example' });
    bo = await running.network.createPhone({ name: 'Bo Example' });
    journey = new MessageJourney(running, channel, ada, webhook);
    const settings = { webhooks: [{ url: webhook.url, events: [{ type: 'messages' }] }] };
    expect((await client.request('PATCH', '/settings', { body: settings })).status).toBe(200);
    const made = await running.network.call<{ id: string }>('POST', `/phones/${channel.phone.phone}/groups`, {
      subject: 'Team',
      members: [ada.phone],
    });
    group = made.id.includes('@') ? made.id : `${made.id}@g.us`;
  }, 120_000);

  afterAll(async () => {
    await page.close();
    await webhook.close();
    await running.stop();
  }, 60_000);

  beforeEach(() => untilConnected(client), 60_000);
  afterEach(() => running.network.removeFaults());

  const restart = async (): Promise<void> => {
    await running.stack.killWorkers('SIGKILL');
    await running.stack.startWorker();
    await untilConnected(client);
  };
  const copiesAt = async (phone: VirtualPhone, id: string) =>
    (await phone.messages()).filter((message) => message.id === id);

  describe('under an Idempotency-Key', () => {
    const SENDS: [kind: string, body: () => Body, other: Body][] = [
      ['/messages/text', () => ({ body: 'once' }), { body: 'twice' }],
      ['/messages/image', () => ({ media: png(5) }), { media: png(6) }],
      ['/messages/document', () => ({ media: png(7), filename: 'a.png' }), { media: png(7), filename: 'b.png' }],
      ['/messages/video', () => ({ media: base64(FILM) }), { media: base64(FILM), caption: 'x' }],
      ['/messages/audio', () => ({ media: base64(OPUS) }), { media: base64(FILM) }],
      ['/messages/voice', () => ({ media: base64(OPUS) }), { media: base64(FILM) }],
      ['/messages/sticker', () => ({ media: png(8) }), { media: png(9) }],
      ['/messages/location', () => ({ latitude: 1, longitude: 2 }), { latitude: 1, longitude: 3 }],
      ['/messages/contact', () => ({ name: 'Carl', vcard: VCARD }), { name: 'Karl', vcard: VCARD }],
      ['/messages/poll', () => ({ title: 'Tea?', options: ['yes', 'no'] }), { title: 'Tea?', options: ['y', 'n'] }],
      [
        '/messages/link_preview',
        () => ({ body: `see ${page.url}/x`, title: 'A' }),
        { body: 'see http://a.example/y', title: 'A' },
      ],
    ];

    /** Sends it, repeats it, sends something else under the same key. */
    async function sentOnce(path: string, { name, body, other }: { name: string; body: Body; other: Body }) {
      const first = await client.post<Sent>(path, body, key(name));
      expect({ path, status: first.status, body: first.body }).toMatchObject({ status: 200 });
      const again = await client.post<Sent>(path, body, key(name));
      expect([again.status, again.body]).toEqual([200, first.body]);
      expect((await client.post(path, other, key(name))).status).toBe(400);
      const { message } = first.body;
      const shown = await journey.onPhone(ada, { id: networkId(message.id) });
      expect(shown.deliveries).toBe(1);
      return message;
    }

    it.each(SENDS)(
      '%s is one message',
      async (path, body, other) => {
        const before = (await ada.messages()).length;
        const to = { to: ada.phone };
        await sentOnce(path, { name: `once ${path}`, body: { ...to, ...body() }, other: { ...to, ...other } });
        expect((await ada.messages()).length).toBe(before + 1);
      },
      30_000,
    );

    it('a forwarded message is one, and so is the invitation to a group', async () => {
      const before = (await ada.messages()).length;
      const message = await journey.send('text', { to: bo.phone, body: 'pass it on' });
      await sentOnce(`/messages/${message.id}`, {
        name: 'once forwarded',
        body: { to: ada.phone },
        other: { to: bo.phone },
      });
      const { body: invite } = await client.get<{ invite_code: string }>(`/groups/${group}/invite`);
      await sentOnce(`/groups/link/${invite.invite_code}`, {
        name: 'once invited',
        body: { to: ada.phone, body: 'Join us: %URL%' },
        other: { to: ada.phone, body: 'Or not' },
      });
      expect((await ada.messages()).length).toBe(before + 2);
    }, 30_000);

    it('of a worker that is killed before it answers: the repetition is the same message', async () => {
      const before = (await ada.messages()).length;
      const source = await journey.send('text', { to: bo.phone, body: 'pass on in a crash' });
      const sends: [string, Body][] = [
        ['/messages/text', { to: ada.phone, body: 'sent in a crash' }],
        ['/messages/image', { to: ada.phone, media: png(10), caption: 'shown in a crash' }],
        [`/messages/${source.id}`, { to: ada.phone }],
      ];
      const hold = await running.network.addFault({ kind: 'hold-acks', phone: channel.phone.phone });
      const first = sends.map(([path, body], index) => {
        // Each on a connection of its own: answers of one connection come in order.
        return running.client(client.token).post<Refusal>(path, body, key(`crash ${index}`));
      });
      await eventually(async () => (await ada.messages()).length === before + sends.length, {
        what: 'all of them at the phone',
      });
      await running.stack.killWorkers('SIGKILL');
      await running.network.removeFault(hold.id);
      await running.stack.startWorker();
      for (const { status } of await Promise.all(first)) expect(status).toBe(502);
      await untilConnected(client);
      for (const [index, [path, body]] of sends.entries()) {
        const again = await client.post<Sent>(path, body, key(`crash ${index}`));
        expect([path, again.status]).toEqual([path, 200]);
        await journey.onPhone(ada, { id: networkId(again.body.message.id) });
      }
      expect((await ada.messages()).length).toBe(before + sends.length);
      const { body: list } = await client.get<{ messages: WireMessage[] }>(
        `/messages/list/${ada.phone}?from_me=true&count=500`,
      );
      expect(list.messages.filter((message) => JSON.stringify(message).includes('in a crash'))).toHaveLength(3);
    }, 120_000);
  });

  describe('requested again', () => {
    const requestAgain = (phone: VirtualPhone, id: string, as: 'number' | 'lid') =>
      running.network.call('POST', `/phones/${phone.phone}/ask-again`, {
        id,
        of: channel.phone.phone,
        device: channel.device,
        as,
      });

    it('comes from the store after the worker that sent it was killed, by number and by LID', async () => {
      const text = await journey.send('text', { body: 'keep this for me' });
      const image = await journey.send('image', { media: png(11), caption: 'and this' });
      const inGroup = await journey.send('text', { to: bo.phone, body: 'not for Ada' });
      for (const { id } of [text, image]) await journey.onPhone(ada, { id: networkId(id) });
      await journey.onPhone(bo, { id: networkId(inGroup.id) });
      await restart();
      for (const [message, as] of [
        [text, 'number'],
        [image, 'lid'],
      ] as const) {
        await requestAgain(ada, networkId(message.id), as);
        await journey.phoneHas(ada, networkId(message.id), `the copy requested by ${as}`, ({ deliveries }) => {
          return deliveries === 2;
        });
      }
    }, 90_000);

    it('is not answered when it is unknown, or went to somebody else', async () => {
      const mine = await journey.send('text', { body: 'mine' });
      const bos = await journey.send('text', { to: bo.phone, body: 'only for Bo' });
      await journey.onPhone(ada, { id: networkId(mine.id) });
      await journey.onPhone(bo, { id: networkId(bos.id) });
      const before = (await ada.messages()).length;
      await requestAgain(ada, '3EB0AAAAAAAAAAAAAAAAAA', 'number');
      await requestAgain(ada, '3EB0BBBBBBBBBBBBBBBBBB', 'lid');
      await requestAgain(ada, networkId(bos.id), 'number');
      // Requests are answered in their order: once this one is, the others have been dealt with.
      await requestAgain(ada, networkId(mine.id), 'number');
      await journey.phoneHas(ada, networkId(mine.id), 'its copy', ({ deliveries }) => deliveries === 2);
      expect((await ada.messages()).length).toBe(before);
      expect(await copiesAt(ada, networkId(bos.id))).toEqual([]);
      const phone = await running.network.call<{ unreadable?: unknown }>('GET', `/phones/${ada.phone}`);
      expect(JSON.stringify(phone.unreadable ?? [])).not.toContain('3EB0');
    }, 60_000);
  });

  describe('removed from the own phone', () => {
    it('what somebody else wrote in a group where the channel is no admin, for the channel alone', async () => {
      const { id: neighbours } = await running.network.call<{ id: string }>('POST', `/phones/${ada.phone}/groups`, {
        subject: 'Neighbours',
        members: [channel.phone.phone, bo.phone],
      });
      const id = await journey.write(bo, { to: neighbours, text: 'not yours to delete' });
      const message = await journey.receivedWith('text', 'not yours to delete');
      await journey.phoneHas(channel.phone, id, 'the copy on the own phone', () => true);
      expect((await client.request('DELETE', `/messages/${message.id}`)).status).toBe(200);
      await journey.removed(message.id);
      await journey.goneFrom(channel.phone, id);
      for (const phone of [ada, bo]) {
        await journey.phoneHas(phone, id, 'their copies', ({ deleted }) => deleted !== true);
      }
    }, 30_000);

    it('a chat that is cleared there has no messages here, which is reported; what comes later stays', async () => {
      const own = channel.phone.phone;
      await journey.write(bo, { text: 'clear me' });
      const received = await journey.receivedWith('text', 'clear me');
      const sent = await journey.send('text', { to: bo.phone, body: 'clear me, too' });
      await running.network.call('POST', `/phones/${own}/chats`, { chat: bo.phone, clear: true });
      const chat = `${bo.phone}@s.whatsapp.net`;
      await webhook.waitFor('the chat cleared', ({ body }) => body['messages_removed_all'] === chat);
      for (const { id } of [received, sent]) expect((await client.get(`/messages/${id}`)).status).toBe(404);
      const { body: list } = await client.get<{ total: number }>(`/messages/list/${bo.phone}`);
      expect(list.total).toBe(0);
      expect((await client.get(`/chats/${bo.phone}`)).status).toBe(200);
      await journey.write(bo, { text: 'after the clearing' });
      await journey.receivedWith('text', 'after the clearing');
      expect((await client.get<{ total: number }>(`/messages/list/${bo.phone}`)).body.total).toBe(1);
    }, 60_000);
  });
});
