import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { type LinkedChannel, loginCode, RunningStack, untilConnected, untilStatus } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface Message {
  id: string;
  chat_id: string;
  from: string;
  text?: { body: string };
  context?: { mentions?: string[]; quoted_author?: string };
}
interface Page<Item> {
  total: number;
  items: Item[];
}

const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
const anAddress = expect.stringMatching(/^https:/) as string;

/** People who keep their number private are known to others by a private id (`<digits>@lid`) alone. */
describe('who is who', () => {
  let running: RunningStack<SharedStack>;
  let webhook: WebhookReceiver;
  let channel: LinkedChannel;
  let client: GatewayClient;
  let ownLid: string;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    channel = await running.createLinkedChannel('Shop Example');
    ({ client } = channel);
    ownLid = await lidOf(channel.phone);
    const webhooks = [{ url: webhook.url, events: [{ type: 'chats' }] }];
    expect((await client.request('PATCH', '/settings', { body: { webhooks } })).status).toBe(200);
  }, 120_000);

  afterAll(async () => {
    await running?.stop();
    await webhook?.close();
  }, 60_000);

  const lidOf = async ({ phone }: VirtualPhone): Promise<string> =>
    `${(await running.network.call<{ lid: string }>('GET', `/phones/${phone}`)).lid}@lid`;
  const hidesNumber = (phone: VirtualPhone, hides: boolean) =>
    running.network.call('POST', `/phones/${phone.phone}/privacy`, { number: hides ? 'none' : 'all' });
  const list = async <Item>(of: GatewayClient, path: string, key: string): Promise<Page<Item>> => {
    const { body } = await of.get<Record<string, unknown> & { total: number }>(path);
    return { total: body.total, items: body[key] as Item[] };
  };
  const received = (text: string) =>
    eventually(
      async () => {
        const { items } = await list<Message>(client, '/messages/list?count=500', 'messages');
        return items.find((message) => message.text?.body === text);
      },
      { what: `"${text}" is received` },
    );
  const message = async (id: string) => (await client.get<Message>(`/messages/${id}`)).body;
  const readersOf = async (id: string): Promise<(string | undefined)[]> => {
    const { body } = await client.get<{ statuses: { code: number; viewer_id?: string }[] }>(`/statuses/${id}`);
    return body.statuses.filter(({ code }) => code === 4).map(({ viewer_id: viewer }) => viewer);
  };

  describe('a person met by private id first', () => {
    let nina: VirtualPhone;
    let lid: string;

    beforeEach(async () => {
      nina = await running.network.createPhone({ name: 'Nina Nobody' });
      lid = await lidOf(nina);
      await hidesNumber(nina, true);
      await nina.send(ownLid, `Guess who, ${lid}`);
      expect(await received(`Guess who, ${lid}`)).toMatchObject({ chat_id: lid, from: lid });
    });

    const number = (): string => `${nina.phone}@s.whatsapp.net`;
    const reveal = async (): Promise<void> => {
      await hidesNumber(nina, false);
      await nina.send(channel.phone.phone, `It is me, ${lid}`);
      expect(await received(`It is me, ${lid}`)).toMatchObject({ chat_id: number(), from: nina.phone });
    };
    /** In a group she wrote, was mentioned and quoted, and read what the channel sent. */
    const inGroup = async (): Promise<{ hers: Message; mention: Message; sentId: string }> => {
      const ada = await running.network.createPhone({ name: 'Ada Example' });
      const { id: group } = await running.network.call<{ id: string }>('POST', `/phones/${ada.phone}/groups`, {
        subject: 'Friends',
        members: [channel.phone.phone, nina.phone],
      });
      await eventually(async () => (await client.get(`/groups/${group}`)).status === 200, { what: 'the group' });
      const { id: quote } = await nina.send(group, `I am here, in ${group}`);
      await ada.waitFor({ text: `I am here, in ${group}` });
      const draft = { to: group, text: `Welcome to ${group}`, mentions: [lid], quote };
      await running.network.call('POST', `/phones/${ada.phone}/messages`, draft);
      const mention = await received(`Welcome to ${group}`);
      const sent = await client.post<{ message: Message }>('/messages/text', { to: group, body: 'Hello all' });
      const sentId = sent.body.message.id;
      await nina.waitFor({ text: 'Hello all' });
      await nina.read(group);
      await eventually(async () => (await readersOf(sentId)).includes(lid), { what: 'she read it' });
      return { hers: await received(`I am here, in ${group}`), mention, sentId };
    };

    it('is one chat, under that id, and can be written to', async () => {
      expect((await client.get(`/chats/${lid}`)).body).toMatchObject({ id: lid, name: 'Nina Nobody' });
      expect((await client.post('/messages/text', { to: lid, body: 'Tell me' })).status).toBe(200);
      await nina.waitFor({ text: 'Tell me' });
    }, 30_000);

    it('has that id where she is mentioned, quoted, and reads in a group', async () => {
      const { hers, mention } = await inGroup();
      expect(mention.context).toMatchObject({ mentions: [lid], quoted_author: lid });
      expect(hers.from).toBe(lid);
    }, 30_000);

    it('is one chat under her number as soon as that is known, with all its messages', async () => {
      expect((await client.post('/messages/text', { to: lid, body: 'Tell me' })).status).toBe(200);
      await nina.waitFor({ text: 'Tell me' });
      await reveal();
      const { items: chats } = await list<{ id: string }>(client, '/chats', 'chats');
      expect(chats.map(({ id }) => id)).toContain(number());
      expect(chats.map(({ id }) => id)).not.toContain(lid);
      const { items } = await list<Message>(client, `/messages/list/${number()}`, 'messages');
      expect(items.map(({ text }) => text?.body).sort()).toEqual([`Guess who, ${lid}`, `It is me, ${lid}`, 'Tell me']);
      expect((await client.get(`/chats/${lid}`)).body).toMatchObject({ id: number() });
      const moved = await webhook.waitFor('the chat has another id', ({ body }) => {
        const text = JSON.stringify(body);
        return text.includes('["id"]') && text.includes(lid);
      });
      expect(moved.body['chats_updates']).toMatchObject([
        { before_update: { id: lid }, after_update: { id: number() } },
      ]);
    }, 30_000);

    it('has her number where she was mentioned, quoted, and read', async () => {
      const { hers, mention, sentId } = await inGroup();
      await reveal();
      expect((await message(mention.id)).context).toMatchObject({ mentions: [nina.phone], quoted_author: nina.phone });
      expect((await message(hers.id)).from).toBe(nina.phone);
      expect(await readersOf(sentId)).toContain(nina.phone);
      expect(await readersOf(sentId)).not.toContain(lid);
      expect((await client.get(`/contacts/${encodeURIComponent(lid)}`)).body).toMatchObject({ id: nina.phone });
    }, 30_000);

    it('is written to under every id she ever had', async () => {
      await reveal();
      for (const [to, body] of [
        [lid, 'by the id of before'],
        [nina.phone, 'by number'],
      ] as const) {
        const sent = await client.post<{ message: Message }>('/messages/text', { to, body });
        expect(sent.body.message.chat_id).toBe(number());
        expect((await nina.waitFor({ text: body })).deliveries).toBe(1);
      }
      expect((await client.post('/messages/text', { to: '999999999999999@lid', body: 'x' })).status).toBe(404);
    }, 30_000);
  });

  it('a person met by number first is the same chat when only the private id is used later', async () => {
    const bo = await running.network.createPhone({ name: 'Bo Example' });
    await bo.send(channel.phone.phone, 'By number');
    await received('By number');
    await hidesNumber(bo, true);
    await bo.send(ownLid, 'By private id');
    const number = `${bo.phone}@s.whatsapp.net`;
    expect(await received('By private id')).toMatchObject({ chat_id: number, from: bo.phone });
    const { items } = await list<{ id: string; name: string }>(client, '/chats', 'chats');
    expect(items.filter(({ name }) => name === 'Bo Example').map(({ id }) => id)).toEqual([number]);
  }, 30_000);

  it('people and groups are listed with their pictures as soon as the settings request it', async () => {
    const pia = await running.network.createPhone({ name: 'Pia Picture' });
    const at = <T>(path: string, body: object) => running.network.call<T>('POST', `/phones/${pia.phone}${path}`, body);
    const members = [channel.phone.phone];
    const { id: group } = await at<{ id: string }>('/groups', { subject: 'Painters', members });
    await at('/picture', { base64: RED_DOT });
    await at('/picture', { base64: RED_DOT, group });
    await pia.send(channel.phone.phone, 'Look at me');
    await received('Look at me');
    const media = { init_avatars: true };
    expect((await client.request('PATCH', '/settings', { body: { media } })).status).toBe(200);
    const shown = async (path: string, key: string, id: string) =>
      (await list<Record<string, string>>(client, path, key)).items.find((item) => item['id'] === id) ?? {};
    for (const [path, key, id, field] of [
      ['/contacts', 'contacts', pia.phone, 'profile_pic'],
      ['/chats', 'chats', `${pia.phone}@s.whatsapp.net`, 'chat_pic'],
      ['/groups', 'groups', group, 'chat_pic'],
    ] as const) {
      const what = `${key} with pictures`;
      const found = await eventually(async () => (await shown(path, key, id))[field], { what, withinMs: 30_000 });
      expect([found, (await shown(path, key, id))[`${field}_full`]]).toEqual([anAddress, anAddress]);
    }
  }, 90_000);

  it('a number that is linked again has its chats, and another number does not', async () => {
    const { client: own } = await running.createChannel('Two Numbers');
    const first = await running.network.createPhone({ name: 'First Number' });
    const second = await running.network.createPhone({ name: 'Second Number' });
    const friend = await running.network.createPhone({ name: 'Fred Friend' });
    const link = async (phone: VirtualPhone): Promise<void> => {
      await phone.scan(await loginCode(own));
      await untilConnected(own);
    };
    const unlink = async (): Promise<void> => {
      expect((await own.post('/users/logout')).status).toBe(200);
      await untilStatus(own, 'not_linked');
    };
    await link(first);
    await friend.send(first.phone, 'To the first');
    const chat = `${friend.phone}@s.whatsapp.net`;
    await eventually(async () => (await own.get(`/chats/${chat}`)).status === 200, { what: 'the chat' });
    await unlink();
    expect((await own.get(`/chats/${chat}`)).status).toBe(200);
    await link(first);
    expect((await own.get(`/chats/${chat}`)).status).toBe(200);
    await unlink();
    await link(second);
    await eventually(async () => (await list(own, '/chats', 'chats')).total === 0, { what: 'no chat of the first' });
    expect((await list(own, '/messages/list', 'messages')).total).toBe(0);
    expect((await own.get(`/contacts/${friend.phone}`)).status).toBe(404);
    await friend.send(second.phone, 'To the second');
    await eventually(async () => (await list(own, '/messages/list', 'messages')).total === 1, {
      what: 'what is its own',
    });
  }, 60_000);
});
