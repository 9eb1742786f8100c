import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { MessageJourney, networkId, type Sent, type WireMessage } from './harness/message-journey.js';
import { RunningStack, untilConnected, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { png, WebSite } from './harness/web-site.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

const VCARD = 'BEGIN:VCARD\nVERSION:3.0\nFN:Carl Card\nTEL;waid=15550007777:+1 555 000 7777\nEND:VCARD';

describe('messages of every kind that carries no file', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let journey: MessageJourney;
  let client: GatewayClient;
  let ada: VirtualPhone;
  let bo: VirtualPhone;
  let webhook: WebhookReceiver;
  let page: WebSite;
  let pageUrl: string;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    page = await WebSite.start();
    pageUrl = page.url;
    channel = await running.createLinkedChannel('Olive Owner');
    client = channel.client;
    ada = await running.network.createPhone({ name: 'Ada Example' });
    bo = await running.network.createPhone({ name: 'Bo Example' });
    journey = new MessageJourney(running, channel, ada, webhook);
    const { status } = await client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: webhook.url, events: [{ type: 'messages' }] }] },
    });
    expect(status).toBe(200);
  }, 120_000);

  afterAll(async () => {
    await page.close();
    await webhook.close();
    await running.stop();
  }, 60_000);

  beforeEach(() => untilConnected(client), 60_000);
  afterEach(() => running.network.removeFaults());

  describe('sent', () => {
    it('a text with quote, mentions and lifetime', async () => {
      await journey.write(ada, { text: 'quote me' });
      const quoted = await journey.receivedWith('text', 'quote me');
      const message = await journey.send('text', {
        body: `@${ada.phone} quoted you`,
        quoted: quoted.id,
        mentions: [ada.phone],
        ephemeral: 86_400,
      });
      expect(message.context).toMatchObject({ quoted_id: quoted.id, mentions: [ada.phone], ephemeral: 86_400 });
      const shown = await journey.onPhone(ada, { text: `@${ada.phone} quoted you` });
      const original = await journey.onPhone(ada, { text: 'quote me' });
      expect(shown).toMatchObject({ type: 'text', quoted: original.id, ephemeralSeconds: 86_400 });
      expect(shown['mentions']).toEqual([`${ada.phone}@s.whatsapp.net`]);
      expect(await journey.stored(message.id)).toMatchObject({ type: 'text', context: message.context });
    }, 30_000);

    it('a text to be seen once, as any other', async () => {
      const message = await journey.send('text', { body: 'only once', view_once: true });
      expect(message['text']).toEqual({ body: 'only once' });
      expect((await journey.onPhone(ada, { text: 'only once' }))['viewOnce']).not.toBe(true);
    }, 30_000);

    it('a text with the preview of its link, or without when there is none or none is wanted', async () => {
      const message = await journey.send('text', { body: `look: ${pageUrl}/shop.` });
      expect(message).toMatchObject({ type: 'text', text: { body: `look: ${pageUrl}/shop.` } });
      const shown = await journey.onPhone(ada, { text: `look: ${pageUrl}/shop.` });
      expect(shown['preview']).toEqual({ url: `${pageUrl}/shop`, title: 'The & Shop' });
      await journey.send('text', { body: `bare: ${pageUrl}/shop`, no_link_preview: true });
      expect((await journey.onPhone(ada, { text: `bare: ${pageUrl}/shop` }))['preview']).toBeUndefined();
      await journey.send('text', { body: `${pageUrl}/empty` });
      expect((await journey.onPhone(ada, { text: `${pageUrl}/empty` }))['preview']).toBeUndefined();
    }, 30_000);

    it('a location', async () => {
      const place = { latitude: 1.25, longitude: -103.5, name: 'Harbour', address: 'Pier 1' };
      const message = await journey.send('location', place);
      expect(message).toMatchObject({ type: 'location', location: place });
      expect((await journey.onPhone(ada, { id: networkId(message.id) }))['location']).toEqual(place);
    }, 30_000);

    it('a contact', async () => {
      const message = await journey.send('contact', { name: 'Carl Card', vcard: VCARD });
      expect(message['contact']).toEqual({ name: 'Carl Card', vcard: VCARD });
      const shown = await journey.onPhone(ada, { id: networkId(message.id) });
      expect(shown).toMatchObject({ type: 'contact', text: 'Carl Card', vcard: VCARD });
    }, 30_000);

    it('a link with the preview that the customer sends', async () => {
      const body = `See ${pageUrl}/p/1`;
      const message = await journey.send('link_preview', { body, title: 'Product 1', description: 'Blue' });
      expect(message).toMatchObject({
        type: 'link_preview',
        link_preview: {
          body,
          title: 'Product 1',
          description: 'Blue',
          url: `${pageUrl}/p/1`,
          canonical: `${pageUrl}/p/1`,
        },
      });
      expect((await journey.onPhone(ada, { text: body }))['preview']).toEqual({
        url: `${pageUrl}/p/1`,
        title: 'Product 1',
      });
      const { status, body: refusal } = await client.post('/messages/link_preview', {
        to: ada.phone,
        body: 'no link here',
        title: 'x',
      });
      expect({ status, refusal }).toMatchObject({
        status: 400,
        refusal: { error: { details: 'body: must have a link in it' } },
      });
    }, 30_000);

    it('a link with a picture of its own', async () => {
      const body = `Pictured ${pageUrl}/empty`;
      const message = await journey.send('link_preview', { body, title: 'Product 2', media: png() });
      expect(message['link_preview']).toMatchObject({
        preview: expect.stringMatching(/^data:image\/jpeg;base64,/) as string,
      });
      expect(await journey.onPhone(ada, { text: body })).toMatchObject({ preview: { title: 'Product 2' } });
    }, 30_000);

    it('a poll, whose votes are counted', async () => {
      const message = await journey.send('poll', { title: 'Lunch?', options: ['Noodles', 'Rice', 'Soup'], count: 0 });
      expect(message.poll).toMatchObject({ title: 'Lunch?', vote_limit: 0, total: 0 });
      const shown = await journey.onPhone(ada, { text: 'Lunch?' });
      expect(shown['options']).toEqual(['Noodles', 'Rice', 'Soup']);
      await journey.write(ada, { vote: { id: shown.id, options: ['Rice', 'Soup'] } });
      const update = await journey.patched(message.id, 'vote');
      expect(update.after_update.poll).toMatchObject({ total: 2 });
      await journey.write(ada, { vote: { id: shown.id, options: ['Rice'] } });
      const poll = await eventually(
        async () => {
          const { poll: now } = await journey.stored(message.id);
          return now?.total === 1 ? now : undefined;
        },
        { what: 'the second vote' },
      );
      expect(poll.results.map(({ name, count, voters }) => [name, count, voters])).toEqual([
        ['Noodles', 0, []],
        ['Rice', 1, [ada.phone]],
        ['Soup', 0, []],
      ]);
    }, 30_000);
  });

  describe('received', () => {
    it.each([
      ['location', { location: { latitude: 2.5, longitude: 3.5, name: 'Cafe', address: 'Main St' } }, 'Cafe'],
      ['contact', { contact: { name: 'Dora Card', phone: '15550008888' } }, 'Dora Card'],
      ['poll', { poll: { name: 'Tea?', options: ['yes', 'no'], selectable: 1 } }, 'Tea?'],
      [
        'link_preview',
        { text: 'http://a.example/x', preview: { url: 'http://a.example/x', title: 'A page' } },
        'A page',
      ],
    ])(
      'a %s',
      async (type, draft, words) => {
        await journey.write(ada, draft);
        const message = await journey.receivedWith(type, words);
        expect(message).toMatchObject({ from_me: false, from: ada.phone, from_name: 'Ada Example' });
        expect(await journey.stored(message.id)).toMatchObject({ [type]: message[type] });
      },
      30_000,
    );
  });

  describe('actions of the channel', () => {
    let theirs: WireMessage;
    let theirId: string;
    let theirText: string;
    let count = 0;
    beforeEach(async () => {
      theirText = `act on me ${(count += 1)}!`;
      theirId = await journey.write(ada, { text: theirText });
      theirs = await journey.receivedWith('text', theirText);
    }, 30_000);

    it('marking as read turns the sender’s ticks blue, both ways', async () => {
      expect((await client.post(`/messages/${theirs.id}`)).body).toEqual({ success: true });
      await journey.phoneHas(ada, theirId, 'read at the sender', ({ status }) => status === 'read');
      const again = await client.request('PUT', `/messages/${theirs.id}`);
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: { success: true } });
    }, 30_000);

    it('reacting and taking it back', async () => {
      const react = (emoji: string) => client.request('PUT', `/messages/${theirs.id}/reaction`, { body: { emoji } });
      expect((await react('👍')).body).toEqual({ success: true });
      await journey.phoneHas(ada, theirId, 'the reaction', ({ reactions = {} }) =>
        Object.values(reactions).includes('👍'),
      );
      expect((await journey.stored(theirs.id)).reactions).toMatchObject([{ emoji: '👍' }]);
      expect((await journey.patched(theirs.id, 'reaction')).changes).toEqual(['reactions']);
      expect((await client.request('DELETE', `/messages/${theirs.id}/reaction`)).status).toBe(200);
      await journey.phoneHas(ada, theirId, 'no reaction', ({ reactions = {} }) => Object.keys(reactions).length === 0);
      expect((await journey.stored(theirs.id)).reactions).toBeUndefined();
      expect((await client.request('DELETE', `/messages/${theirs.id}/reaction`)).status).toBe(200);
    }, 30_000);

    it('forwarding, marked as forwarded once more each time', async () => {
      const forward = async (id: string) =>
        (await client.post<Sent>(`/messages/${id}`, { to: bo.phone, force: true })).body.message;
      const first = await forward(theirs.id);
      expect(first).toMatchObject({
        type: 'text',
        text: { body: theirText },
        chat_id: `${bo.phone}@s.whatsapp.net`,
        context: { forwarded: true, forwarding_score: 1 },
      });
      expect(await journey.onPhone(bo, { text: theirText })).toMatchObject({ forwarded: true });
      expect((await forward(first.id)).context).toEqual({ forwarded: true, forwarding_score: 2 });
    }, 30_000);

    it('editing an own text, both ways, and nobody else’s', async () => {
      const message = await journey.send('text', { body: 'tipo' });
      const shown = await journey.onPhone(ada, { text: 'tipo' });
      const edit = await client.request<Sent>('PUT', `/messages/${message.id}`, { body: { body: 'typo' } });
      expect(edit.body).toMatchObject({
        sent: true,
        success: true,
        message: { id: message.id, text: { body: 'typo' } },
      });
      await journey.phoneHas(ada, shown.id, 'the edit', ({ text, edited }) => text === 'typo' && edited === true);
      expect((await journey.patched(message.id, 'edit')).after_update['text']).toEqual({ body: 'typo' });
      const other = await client.post<Sent>('/messages/text', { to: ada.phone, body: 'better', edit: message.id });
      expect(other.body.message).toMatchObject({ id: message.id, text: { body: 'better' } });
      await journey.phoneHas(ada, shown.id, 'the second edit', ({ text }) => text === 'better');
      expect((await client.request('PUT', `/messages/${theirs.id}`, { body: { body: 'x' } })).status).toBe(403);
      expect((await client.request('PUT', `/messages/${message.id}`, { body: {} })).status).toBe(400);
    }, 30_000);

    it('deleting an own message for everyone, somebody else’s for the channel alone', async () => {
      const message = await journey.send('text', { body: 'regret' });
      const shown = await journey.onPhone(ada, { text: 'regret' });
      expect((await client.request('DELETE', `/messages/${message.id}`)).body).toEqual({ success: true });
      for (const phone of [ada, channel.phone]) {
        await journey.phoneHas(phone, shown.id, 'the deletion', ({ deleted }) => deleted === true);
      }
      await journey.removed(message.id);
      expect((await journey.stored(message.id)).status).toBe('deleted');
      expect((await client.request('DELETE', `/messages/${message.id}`)).status).toBe(200);
      await journey.phoneHas(channel.phone, theirId, 'the copy on the own phone', () => true);
      expect((await client.request('DELETE', `/messages/${theirs.id}`)).status).toBe(200);
      await journey.removed(theirs.id);
      await journey.goneFrom(channel.phone, theirId);
      await journey.phoneHas(ada, theirId, 'the original at its author', ({ deleted }) => deleted !== true);
    }, 30_000);

    it('on a message that is not there is 404, whatever its id looks like', async () => {
      for (const id of ['AAAAAAAA-AAAAAAAA', 'nonsense', theirs.id.replace(/.$/, 'A')]) {
        if (id === theirs.id) continue;
        for (const [method, path, body] of [
          ['POST', `/messages/${id}`, undefined],
          ['POST', `/messages/${id}`, { to: bo.phone }],
          ['PUT', `/messages/${id}`, { body: 'x' }],
          ['DELETE', `/messages/${id}`, undefined],
          ['PUT', `/messages/${id}/reaction`, { emoji: 'x' }],
          ['DELETE', `/messages/${id}/reaction`, undefined],
          ['GET', `/messages/${id}?resync=true`, undefined],
        ] as const) {
          const { status } = await client.request(method, path, { body });
          expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 404`);
        }
      }
      expect((await client.get(`/messages/${theirs.id}?resync=true`)).status).toBe(200);
    }, 30_000);
  });

  describe('actions of others', () => {
    it('an edit, a reaction, a deletion change the message and are reported', async () => {
      const id = await journey.write(ada, { text: 'ferst' });
      const message = await journey.receivedWith('text', 'ferst');
      await journey.write(ada, { edit: { id, text: 'first' } });
      expect((await journey.patched(message.id, 'edit')).after_update).toMatchObject({
        id: message.id,
        text: { body: 'first' },
      });
      expect((await journey.stored(message.id))['text']).toEqual({ body: 'first' });
      const own = await journey.send('text', { body: 'react to me' });
      const shown = await journey.onPhone(ada, { text: 'react to me' });
      await journey.write(ada, { reaction: { id: shown.id, emoji: '🎉' } });
      await journey.patched(own.id, 'reaction');
      expect((await journey.stored(own.id)).reactions).toMatchObject([{ emoji: '🎉' }]);
      await journey.write(ada, { delete: { id } });
      await journey.removed(message.id);
      const action = await journey.received(
        'the deletion',
        ({ action: given }) => given?.type === 'delete' && given.target === message.id,
      );
      expect(action.type).toBe('action');
    }, 30_000);
  });

  describe('in a group', () => {
    let group: string;
    beforeAll(async () => {
      const made = await running.network.call<{ id: string }>('POST', `/phones/${channel.phone.phone}/groups`, {
        subject: 'Team',
        members: [ada.phone, bo.phone],
      });
      group = made.id.includes('@') ? made.id : `${made.id}@g.us`;
    }, 30_000);

    it('statuses are reported per reader', async () => {
      const message = await journey.send('text', { to: group, body: 'to the team' });
      await journey.onPhone(ada, { text: 'to the team' });
      await journey.onPhone(bo, { text: 'to the team' });
      await running.network.call('POST', `/phones/${ada.phone}/read`, { chat: group });
      const readers = await eventually(
        async () => {
          const { body } = await client.get<{ statuses: { status: string; viewer_id?: string }[] }>(
            `/statuses/${message.id}`,
          );
          const of = (status: string) => body.statuses.filter((step) => step.status === status);
          return of('read').length === 1 && of('delivered').length === 2 ? of('read') : undefined;
        },
        { what: 'one reader, two receivers' },
      );
      expect(readers).toMatchObject([{ viewer_id: ada.phone }]);
    }, 30_000);

    it('an admin deletes for everyone; quotes name their author', async () => {
      const id = await journey.write(ada, { to: group, text: 'spam in the group' });
      const message = await journey.receivedWith('text', 'spam in the group');
      expect(message).toMatchObject({ chat_id: group, from: ada.phone });
      expect((await client.request('PUT', `/messages/${message.id}/reaction`, { body: { emoji: '😡' } })).status).toBe(
        200,
      );
      await journey.phoneHas(bo, id, 'the reaction', ({ reactions = {} }) => Object.values(reactions).includes('😡'));
      await journey.send('text', { to: group, body: 'no spam', quoted: message.id });
      expect(await journey.onPhone(bo, { text: 'no spam' })).toMatchObject({ quoted: id });
      expect((await client.request('DELETE', `/messages/${message.id}`)).status).toBe(200);
      for (const phone of [ada, bo, channel.phone]) {
        await journey.phoneHas(phone, id, 'the deletion', ({ deleted }) => deleted === true);
      }
      await journey.removed(message.id);
    }, 30_000);
  });

  describe('once', () => {
    const key = (value: string) => ({ 'idempotency-key': value });

    it('the same key and body are one message', async () => {
      const body = { body: 'keyed' };
      const first = await journey.send('text', body, key('k-1'));
      expect(await journey.send('text', body, key('k-1'))).toEqual(first);
      const other = await client.post('/messages/text', { to: ada.phone, body: 'other' }, { headers: key('k-1') });
      expect(other.status).toBe(400);
      await journey.onPhone(ada, { text: 'keyed' });
      expect((await ada.messages()).filter(({ text }) => text === 'keyed')).toHaveLength(1);
    }, 30_000);

    it('a file under the same key is one message, too, though it is uploaded again', async () => {
      const body = { media: png(), caption: 'keyed picture' };
      const first = await journey.send('image', body, key('k-3'));
      expect(await journey.send('image', body, key('k-3'))).toEqual(first);
      const other = { to: ada.phone, media: png(9), caption: 'keyed picture' };
      expect((await client.post('/messages/image', other, { headers: key('k-3') })).status).toBe(400);
      await journey.onPhone(ada, { text: 'keyed picture' });
      expect((await ada.messages()).filter(({ text }) => text === 'keyed picture')).toHaveLength(1);
    }, 30_000);

    it('a retry after 502 is no second message', async () => {
      const { id } = await running.network.addFault({ kind: 'hold-acks' });
      const body = { to: ada.phone, body: 'unconfirmed, then again' };
      const first = await client.post('/messages/text', body, { headers: key('k-2') });
      expect(first.status).toBe(502);
      await running.network.removeFault(id);
      const again = await client.post<Sent>('/messages/text', body, { headers: key('k-2') });
      expect(again.status).toBe(200);
      const shown = await journey.onPhone(ada, { text: 'unconfirmed, then again' });
      expect((await ada.messages()).filter(({ text }) => text === body.body)).toHaveLength(1);
      expect(shown.fromMe).toBe(false);
      const { body: list } = await client.get<{ messages: WireMessage[] }>(`/messages/list/${ada.phone}?from_me=true`);
      expect(list.messages.filter((message) => JSON.stringify(message['text'])?.includes(body.body))).toHaveLength(1);
    }, 30_000);
  });

  it('what a phone could not read is sent again, though the worker that sent it dies right after', async () => {
    await running.network.addFault({ kind: 'corrupt-message', phone: ada.phone, device: 0, count: 1 });
    await journey.send('text', { body: 'send again' });
    await running.stack.killWorkers('SIGKILL');
    await running.stack.startWorker();
    expect(await journey.onPhone(ada, { text: 'send again', timeoutMs: 30_000 })).toMatchObject({ fromMe: false });
  }, 60_000);
});
