import { FILM, OPUS, PDF, picture, type SampleFile } from '@dormouse/stack/sample-files';
import { eventually } from './harness/eventually.js';
import { FileServer } from './harness/file-server.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { MessageJourney, networkId, type Sent, type Shown, type WireMessage } from './harness/message-journey.js';
import { queryDatabase } from './harness/outages.js';
import { RunningStack, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

type Refusal = { error: { code: number; details: string } };
type ShownFile = Shown & { file: { directPath: string } };

const base64 = ({ type, bytes }: SampleFile) => `data:${type};base64,${bytes.toString('base64')}`;

describe('files after they were sent or received', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let journey: MessageJourney;
  let client: GatewayClient;
  let ada: VirtualPhone;
  let webhook: WebhookReceiver;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    channel = await running.createLinkedChannel('Olive Owner');
    client = channel.client;
    ada = await running.network.createPhone({ name: 'Ada Example' });
    journey = new MessageJourney(running, channel, ada, webhook);
    const { status } = await client.request('PATCH', '/settings', {
      body: {
        media: { auto_download: ['image'] },
        webhooks: [{ url: webhook.url, events: [{ type: 'messages' }] }],
      },
    });
    expect(status).toBe(200);
  }, 120_000);

  afterAll(async () => {
    await webhook.close();
    await running.stop();
  }, 60_000);

  afterEach(() => running.network.removeFaults());

  const database = <Row extends object>(text: string, values: unknown[] = []) =>
    queryDatabase<Row & Record<string, unknown>>(running.stack.databases.sg, text, values);
  const receivedPicture = async (sample: SampleFile): Promise<WireMessage> => {
    const id = await journey.write(ada, {
      image: { base64: sample.bytes.toString('base64'), mimetype: sample.type },
      caption: 'theirs',
    });
    return journey.received(`picture ${id}`, (message) => networkId(message.id) === id);
  };
  const contentOf = (message: WireMessage) =>
    message[message.type] as { id: string; link?: string; caption?: string; preview?: string };
  const shownAt = (phone: VirtualPhone, message: WireMessage) =>
    journey.onPhone(phone, { id: networkId(message.id) }) as Promise<ShownFile>;
  const bytesAt = async (phone: VirtualPhone, message: WireMessage): Promise<Buffer> => {
    const path = `/phones/${phone.phone}/messages/${networkId(message.id)}/file`;
    const response = await fetch(`${running.stack.urls.simulator}${path}`);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  describe('captions', () => {
    it.each([
      ['image', picture(31, 32)],
      ['video', FILM],
      ['document', PDF],
    ])(
      'of an own %s are edited, both ways, and the phone shows it',
      async (kind, sample) => {
        const message = await journey.send(kind, { media: base64(sample), caption: 'a tipo' });
        const { id } = await shownAt(ada, message);
        const edit = await client.request<Sent>('PUT', `/messages/${message.id}`, { body: { body: 'a typo' } });
        expect([edit.status, contentOf(edit.body.message).caption]).toEqual([200, 'a typo']);
        await journey.phoneHas(
          ada,
          id,
          'the edited caption',
          ({ text, edited }) => text === 'a typo' && edited === true,
        );
        const update = await journey.patched(message.id, 'edit');
        expect(contentOf(update.after_update)).toMatchObject({ id: contentOf(message).id, caption: 'a typo' });
        const request = { to: ada.phone, media: contentOf(message).id, caption: 'no typo', edit: message.id };
        const again = await client.post<Sent>(`/messages/${kind}`, request);
        expect([again.status, again.body.message.id]).toEqual([200, message.id]);
        await journey.phoneHas(ada, id, 'the second edit', ({ text }) => text === 'no typo');
        expect(contentOf(await journey.stored(message.id)).caption).toBe('no typo');
        expect((await bytesAt(ada, message)).equals(sample.bytes)).toBe(true);
      },
      60_000,
    );

    it('are not edited on somebody else’s message, after 15 minutes, or where there is none: 403', async () => {
      const theirs = await receivedPicture(picture(33, 34));
      const old = await journey.send('image', { media: base64(picture(35, 36)), caption: 'old' });
      await database('UPDATE messages SET timestamp = timestamp - 901 WHERE id = $1', [old.id]);
      const voice = await journey.send('voice', { media: base64(OPUS) });
      for (const [id, reason] of [
        [theirs.id, /only own messages/],
        [old.id, /15 minutes/],
        [voice.id, /no text/],
      ] as const) {
        const { status, body } = await client.request<Refusal>('PUT', `/messages/${id}`, { body: { body: 'x' } });
        expect([status, body.error.details]).toEqual([403, expect.stringMatching(reason)]);
      }
      const media = { to: ada.phone, media: base64(PDF) };
      const late = await client.post<Refusal>('/messages/document', { ...media, caption: 'x', edit: old.id });
      expect(late.status).toBe(403);
      expect((await shownAt(ada, old))['edited']).not.toBe(true);
    }, 60_000);
  });

  describe('deleted', () => {
    it('a received file is gone for good, and the message has no link any more', async () => {
      const message = await receivedPicture(picture(37, 38));
      const { id, link } = contentOf(message);
      expect((await fetch(link ?? '')).status).toBe(200);
      expect((await client.request('DELETE', `/media/${id}`)).body).toEqual({ success: true });
      expect((await client.get(`/media/${id}`)).status).toBe(404);
      expect((await client.request('DELETE', `/media/${id}`)).status).toBe(404);
      expect(contentOf(await journey.stored(message.id)).link).toBeUndefined();
      expect((await fetch(link ?? '')).status).toBe(404);
    }, 60_000);

    it('an uploaded file is gone, and its id is no longer accepted', async () => {
      const { body: upload } = await client.post<{ id: string }>('/media', { media: base64(picture(39, 40)) });
      expect((await client.request('DELETE', `/media/${upload.id}`)).status).toBe(200);
      const { status, body } = await client.post<Refusal>('/messages/image', { to: ada.phone, media: upload.id });
      expect([status, body.error.details]).toEqual([404, 'media: no such media id']);
    }, 60_000);
  });

  describe('an upload that is sent again', () => {
    const sent = async (media: string): Promise<{ path: string; bytes: Buffer }> => {
      const message = await journey.send('document', { media });
      expect(contentOf(message).id).toBe(media);
      return { path: (await shownAt(ada, message)).file.directPath, bytes: await bytesAt(ada, message) };
    };
    const aged = (days: number) =>
      database(`UPDATE media_network_copies SET uploaded_at = now() - make_interval(days => $1)`, [days]);

    it.each([404, 410])(
      'is uploaded to the network again, silently, when its copy there is gone (%d)',
      async (code) => {
        const { body: upload } = await client.post<{ id: string }>('/media', { media: base64(picture(41, code)) });
        const { bytes } = await client.get(`/media/${upload.id}`);
        const first = await sent(upload.id);
        await aged(2);
        expect((await sent(upload.id)).path).toBe(first.path);
        await running.network.addFault({ kind: 'expire-media', directPath: first.path, code });
        const renewed = await sent(upload.id);
        expect(renewed.path).not.toBe(first.path);
        expect(renewed.bytes.equals(bytes)).toBe(true);
        expect((await sent(upload.id)).path).toBe(renewed.path);
      },
      60_000,
    );

    it('is uploaded to the network again before the network deletes its copy', async () => {
      const { body: upload } = await client.post<{ id: string }>('/media', { media: base64(picture(42, 43)) });
      const first = await sent(upload.id);
      await aged(13);
      expect((await sent(upload.id)).path).not.toBe(first.path);
    }, 60_000);
  });

  it('the picture of a page is shown wide when that is requested, small otherwise', async () => {
    const page = '<html><head><title>The shop</title><meta property="og:image" content="/wide.png"></head></html>';
    const site = await FileServer.start({
      '/shop': { type: 'text/html', bytes: Buffer.from(page) },
      '/wide.png': picture(1_600, 800),
    });
    const link = `${site.url}/shop`;
    const wide = await journey.send('text', { body: `wide ${link}`, wide_link_preview: true });
    expect((await shownAt(ada, wide))['preview']).toEqual({ url: link, title: 'The shop', width: 1_200, height: 600 });
    expect((await bytesAt(ada, wide)).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    const small = await journey.send('text', { body: `small ${link}` });
    expect((await shownAt(ada, small))['preview']).toEqual({ url: link, title: 'The shop' });
    await site.close();
  }, 60_000);

  describe('a file that takes long to get to the network', () => {
    /** On a connection of its own: answers of one connection come in order. */
    const post = <Body>(path: string, body: Record<string, unknown>) =>
      running.client(client.token).post<Body>(path, body);
    const held = async (id: string) =>
      (await running.network.call<{ id: string; waiting?: number }[]>('GET', '/faults')).find((one) => one.id === id);
    const waiting = (id: string, count: number) =>
      eventually(async () => (await held(id))?.waiting === count, { what: `${count} uploads that wait` });
    const uploaded = async (sample: SampleFile) =>
      (await client.post<{ id: string }>('/media', { media: base64(sample) })).body.id;

    it('keeps its place: what was accepted later comes later, and further files are prepared meanwhile', async () => {
      const [one, two] = [await uploaded(picture(44, 45)), await uploaded(picture(46, 47))];
      const hold = await running.network.addFault({ kind: 'hold-uploads' });
      const first = post<Sent>('/messages/image', { to: ada.phone, media: one, caption: 'place 1' });
      await waiting(hold.id, 1);
      const second = post<Sent>('/messages/image', { to: ada.phone, media: two, caption: 'place 2' });
      await waiting(hold.id, 2);
      const third = post<Sent>('/messages/text', { to: ada.phone, body: 'place 3' });
      expect((await ada.messages()).filter(({ text }) => text?.startsWith('place'))).toEqual([]);
      await running.network.removeFault(hold.id);
      expect((await Promise.all([first, second, third])).map(({ status }) => status)).toEqual([200, 200, 200]);
      await journey.onPhone(ada, { text: 'place 3' });
      const places = (await ada.messages()).filter(({ text }) => text?.startsWith('place'));
      expect(places.sort((a, b) => a.receivedSeq - b.receivedSeq).map(({ text }) => text)).toEqual([
        'place 1',
        'place 2',
        'place 3',
      ]);
    }, 60_000);

    it('costs the text behind it a truthful 503 after 20 s, and nothing of that text is sent', async () => {
      const media = await uploaded(picture(48, 49));
      const hold = await running.network.addFault({ kind: 'hold-uploads' });
      const first = post<Sent>('/messages/image', { to: ada.phone, media, caption: 'slow one' });
      await waiting(hold.id, 1);
      const { status, body } = await post<Refusal>('/messages/text', { to: ada.phone, body: 'impatient' });
      expect([status, body.error.details]).toEqual([503, expect.stringMatching(/^busy/)]);
      await running.network.removeFault(hold.id);
      expect((await first).status).toBe(200);
      await journey.send('text', { body: 'patient' });
      await journey.onPhone(ada, { text: 'patient' });
      expect((await ada.messages()).some(({ text }) => text === 'impatient')).toBe(false);
    }, 60_000);
  });
});
