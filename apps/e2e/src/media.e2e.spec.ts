import { createHash } from 'node:crypto';
import { FILM, OPUS, PDF, picture, tone, type SampleFile } from '@dormouse/stack/sample-files';
import { eventually } from './harness/eventually.js';
import { FileServer } from './harness/file-server.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { MessageJourney, networkId, type Sent, type Shown, type WireMessage } from './harness/message-journey.js';
import { RunningStack, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

const KINDS = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;
const PHOTO = picture(60, 40);
const VOICE = tone(2);

interface Content {
  id: string;
  mime_type: string;
  file_size: number;
  sha256?: string;
  link?: string;
  [field: string]: unknown;
}

interface FileOnPhone {
  file: { mimetype: string; length: number; directPath: string; fileName?: string; seconds?: number };
}

const base64 = ({ type, bytes }: SampleFile) => `data:${type};base64,${bytes.toString('base64')}`;
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');

describe('messages that carry files', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let journey: MessageJourney;
  let client: GatewayClient;
  let ada: VirtualPhone;
  let webhook: WebhookReceiver;
  let server: FileServer;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    server = await FileServer.start({
      '/photo.png': PHOTO,
      '/film.mp4': FILM,
      '/notes.html': { ...PDF, type: 'text/html' },
    });
    channel = await running.createLinkedChannel('Olive Owner');
    client = channel.client;
    ada = await running.network.createPhone({ name: 'Ada Example' });
    journey = new MessageJourney(running, channel, ada, webhook);
  }, 120_000);
  beforeEach(() => settings(KINDS));
  afterEach(() => running.network.removeFaults());

  afterAll(async () => {
    await server.close();
    await webhook.close();
    await running.stop();
  }, 60_000);

  const settings = async (autoDownload: readonly string[]) => {
    const { status } = await client.request('PATCH', '/settings', {
      body: {
        media: { auto_download: autoDownload },
        webhooks: [{ url: webhook.url, events: [{ type: 'messages' }] }],
      },
    });
    expect(status).toBe(200);
  };

  const fetched = async (url: string): Promise<Buffer> => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  /** What a phone sees of a message, and the bytes of its file, decrypted by the phone. */
  const seen = async (phone: VirtualPhone, message: WireMessage): Promise<Shown & FileOnPhone & { bytes: Buffer }> => {
    const id = networkId(message.id);
    const shown = (await journey.onPhone(phone, { id })) as Shown & FileOnPhone;
    const bytes = await fetched(`${running.stack.urls.simulator}/phones/${phone.phone}/messages/${id}/file`);
    return { ...shown, bytes };
  };

  const contentOf = (message: WireMessage) => message[message.type] as Content;

  describe('sent', () => {
    it('a picture by URL, with caption, mention and quote', async () => {
      const first = await journey.send('text', { body: 'which one?' });
      const caption = 'this one @15550001111';
      const message = await journey.send('image', {
        media: `${server.url}/photo.png`,
        caption,
        mentions: ['15550001111'],
        quoted: first.id,
      });
      const content = contentOf(message);
      expect(content).toMatchObject({ caption, mime_type: 'image/png', width: 60, height: 40 });
      expect(content).toMatchObject({ file_size: PHOTO.bytes.length, sha256: hashOf(PHOTO.bytes) });
      expect(content['preview']).toMatch(/^data:image\/jpeg;base64,/);
      expect(message.context).toMatchObject({ quoted_id: first.id, mentions: ['15550001111'] });
      expect((await fetched(content.link ?? '')).equals(PHOTO.bytes)).toBe(true);
      const got = await seen(ada, message);
      expect(got).toMatchObject({ type: 'image', text: caption, quoted: networkId(first.id) });
      expect(got.file.mimetype).toBe('image/png');
      expect(got.bytes.equals(PHOTO.bytes)).toBe(true);
      expect(await journey.stored(message.id)).toMatchObject({ type: 'image', image: { caption } });
    }, 60_000);

    it('a film, measured', async () => {
      const message = await journey.send('video', { media: base64(FILM), caption: 'a film' });
      expect(contentOf(message)).toMatchObject({ seconds: 1, width: 64, height: 36, mime_type: 'video/mp4' });
      const got = await seen(ada, message);
      expect(got).toMatchObject({ type: 'video', text: 'a film' });
      expect(got.bytes.equals(FILM.bytes)).toBe(true);
    }, 60_000);

    it('a voice message from a form: turned into what phones play, with seconds and waveform', async () => {
      const form = new FormData();
      form.append('to', ada.phone);
      form.append('recording_time', '1');
      form.append('media', new Blob([VOICE.bytes]), 'memo.wav');
      const encoded = new Response(form);
      const answer = await client.request<Sent>('POST', '/messages/voice', {
        raw: {
          body: Buffer.from(await encoded.arrayBuffer()),
          contentType: encoded.headers.get('content-type') ?? '',
        },
      });
      expect(answer.status).toBe(200);
      const { message } = answer.body;
      expect(contentOf(message)).toMatchObject({ seconds: 2, mime_type: 'audio/ogg; codecs=opus' });
      expect(Buffer.from(String(contentOf(message)['waveform']), 'base64')).toHaveLength(64);
      const got = await seen(ada, message);
      expect(got.file).toMatchObject({ mimetype: 'audio/ogg; codecs=opus', seconds: 2 });
      expect(got.bytes.subarray(0, 4).toString()).toBe('OggS');
      expect(got.type).toBe('voice');
      const { id, link = '', sha256 } = contentOf(message);
      expect(id).toMatch(/^ogg-/);
      expect(hashOf(await fetched(link))).toBe(sha256);
    }, 60_000);

    it('a voice message that is Opus already, byte by byte', async () => {
      const got = await seen(ada, await journey.send('voice', { media: base64(OPUS) }));
      expect(got.bytes.equals(OPUS.bytes)).toBe(true);
    }, 60_000);

    it('a sound', async () => {
      const got = await seen(ada, await journey.send('audio', { media: base64(OPUS) }));
      expect(got.type).toBe('audio');
      expect(got.bytes.equals(OPUS.bytes)).toBe(true);
    }, 60_000);

    it('a document by content, with its pages and a safe name', async () => {
      const message = await journey.send('document', {
        media: `${server.url}/notes.html`,
        filename: '../../etc/отчёт.pdf',
        caption: 'the report',
      });
      expect(contentOf(message)).toMatchObject({
        mime_type: 'application/pdf',
        page_count: 2,
        file_name: 'отчёт.pdf',
        filename: 'отчёт.pdf',
        caption: 'the report',
      });
      const got = await seen(ada, message);
      expect(got.file.fileName).toBe('отчёт.pdf');
      expect(got.bytes.equals(PDF.bytes)).toBe(true);
    }, 60_000);

    it('a sticker from a picture: WebP of 512 by 512', async () => {
      const message = await journey.send('sticker', { media: base64(PHOTO) });
      expect(contentOf(message)).toMatchObject({ mime_type: 'image/webp', width: 512, height: 512, animated: false });
      const { bytes } = await seen(ada, message);
      expect([bytes.subarray(0, 4).toString(), bytes.subarray(8, 12).toString()]).toEqual(['RIFF', 'WEBP']);
    }, 60_000);

    it('a picture to be seen once', async () => {
      const message = await journey.send('image', { media: base64(PHOTO), view_once: true });
      expect(contentOf(message)).toMatchObject({ view_once: true });
      expect((await seen(ada, message))['viewOnce']).toBe(true);
    }, 60_000);

    it('an upload again and again, uploaded to the network once', async () => {
      const upload = await client.request<{ id: string }>('POST', '/media', {
        raw: { body: PDF.bytes, contentType: 'application/pdf' },
      });
      const paths = new Set<string>();
      for (let time = 0; time < 3; time += 1) {
        const message = await journey.send('document', { media: upload.body.id });
        expect(contentOf(message).id).toBe(upload.body.id);
        paths.add((await seen(ada, message)).file.directPath);
      }
      expect(paths.size).toBe(1);
      const back = await client.get(`/media/${upload.body.id}`, { headers: { range: 'bytes=5-8' } });
      expect([back.status, back.bytes.toString()]).toEqual([206, '1.4\n'.slice(0, 4)]);
    }, 60_000);

    it('forwarded, with the same bytes', async () => {
      const message = await journey.send('image', { media: base64(PHOTO) });
      const { status, body } = await client.post<Sent>(`/messages/${message.id}`, { to: ada.phone });
      expect(status).toBe(200);
      const got = await seen(ada, body.message);
      expect(got['forwarded']).toBe(true);
      expect(got.bytes.equals(PHOTO.bytes)).toBe(true);
    }, 60_000);

    it('not at all when the network does not accept the file; the next try works', async () => {
      const media = base64(picture(11, 7));
      await running.network.addFault({ kind: 'refuse-upload', code: 500, count: 8 });
      const refused = await client.post<{ error: { code: number } }>('/messages/image', { to: ada.phone, media });
      expect(refused.status).toBe(502);
      await running.network.removeFaults();
      await journey.send('image', { media });
    }, 60_000);

    it('only from public addresses (this machine is one in a sandbox)', async () => {
      for (const url of ['http://169.254.169.254/latest/meta-data', 'http://10.0.0.1/a.png', 'http://[fd00::1]/a']) {
        const { status, body } = await client.post<{ error: { details: string } }>('/messages/image', {
          to: ada.phone,
          media: url,
        });
        expect([status, body.error.details]).toEqual([400, expect.stringMatching(/^media: .*not public/)]);
      }
    }, 60_000);

    it('refused where the content is not what it is sent as', async () => {
      const { status, body } = await client.post<{ error: { details: string } }>('/messages/image', {
        to: ada.phone,
        media: base64(PDF),
      });
      expect([status, body.error.details]).toEqual([400, expect.stringMatching(/^media: /)]);
    }, 60_000);
  });

  describe('received', () => {
    const samples: Record<(typeof KINDS)[number], SampleFile> = {
      image: PHOTO,
      video: FILM,
      audio: OPUS,
      voice: OPUS,
      document: PDF,
      sticker: picture(32, 32),
    };

    const write = async (kind: (typeof KINDS)[number], sample: SampleFile, extra: object = {}) => {
      const file = {
        base64: sample.bytes.toString('base64'),
        mimetype: sample.type,
        ...(kind === 'document' && { fileName: 'notes.pdf' }),
      };
      return journey.write(ada, { [kind]: file, ...extra });
    };

    const received = (id: string) => journey.received(`message ${id}`, (message) => networkId(message.id) === id);

    it.each(KINDS)(
      'a %s is reported with a link that works without a token',
      async (kind) => {
        const message = await received(await write(kind, samples[kind]));
        const content = contentOf(message);
        expect(message.type).toBe(kind);
        expect(content).toMatchObject({ file_size: samples[kind].bytes.length, sha256: hashOf(samples[kind].bytes) });
        expect((await fetched(content.link ?? '')).equals(samples[kind].bytes)).toBe(true);
        const got = await client.get(`/media/${content.id}`);
        expect([got.status, got.bytes.equals(samples[kind].bytes)]).toEqual([200, true]);
      },
      60_000,
    );

    it('a transfer that breaks off is tried again', async () => {
      await running.network.addFault({ kind: 'break-media', count: 1 });
      const sample = picture(90, 91);
      const message = await received(await write('image', sample));
      expect((await fetched(contentOf(message).link ?? '')).equals(sample.bytes)).toBe(true);
    }, 60_000);

    it('a file that is not downloaded by itself is downloaded on request', async () => {
      await settings([]);
      const uploads = async () => (await client.get<{ total: number }>('/media')).body.total;
      const before = await uploads();
      const sample = picture(50, 51);
      const message = await received(await write('image', sample, { caption: 'later' }));
      const content = contentOf(message);
      expect(content).toMatchObject({ caption: 'later' });
      expect(content.link).toBeUndefined();
      const got = await client.get(`/media/${content.id}`);
      expect([got.status, got.headers['content-type']]).toEqual([200, 'image/png']);
      expect(got.bytes.equals(sample.bytes)).toBe(true);
      expect(await uploads()).toBe(before);
    }, 60_000);

    it('a file that the network no longer has is put back by the phone', async () => {
      const sample = picture(70, 71);
      const id = await write('image', sample);
      const message = await received(id);
      const shown = (await journey.onPhone(ada, { id })) as Shown & FileOnPhone;
      await running.network.addFault({ kind: 'expire-media', directPath: shown.file.directPath, code: 410 });
      const got = await client.get(`/media/${contentOf(message).id}`);
      expect(got.status).toBe(200);
      expect(got.bytes.equals(sample.bytes)).toBe(true);
    }, 60_000);

    it('a message is reported without a link when its file cannot be downloaded', async () => {
      const fault = await running.network.addFault({ kind: 'break-media' });
      const message = await received(await write('image', picture(80, 81)));
      expect(contentOf(message).link).toBeUndefined();
      await running.network.removeFault(fault.id);
      await eventually(async () => (await client.get(`/media/${contentOf(message).id}`)).status === 200, {
        what: 'the file, once the network serves it',
      });
    }, 60_000);
  });

  it('a received file is gone with the chat it came in, an uploaded one stays', async () => {
    const bo = await running.network.createPhone({ name: 'Bo Example' });
    const upload = await client.request<{ id: string }>('POST', '/media', {
      raw: { body: PDF.bytes, contentType: 'application/pdf' },
    });
    const base = picture(60, 61).bytes.toString('base64');
    const id = await journey.write(bo, { image: { base64: base, mimetype: 'image/png' } });
    const message = await journey.received('the picture', (received) => networkId(received.id) === id);
    const file = `/media/${contentOf(message).id}`;
    expect((await client.get(file)).status).toBe(200);
    expect((await client.request('DELETE', `/chats/${bo.phone}`)).status).toBe(200);
    expect((await client.get(file)).status).toBe(404);
    expect((await client.get(`/media/${upload.body.id}`)).status).toBe(200);
  }, 60_000);

  describe('an invitation to a group', () => {
    let code: string;
    let group: string;

    beforeAll(async () => {
      const bo = await running.network.createPhone({ name: 'Bo Example' });
      const at = `/phones/${bo.phone}`;
      ({ id: group, inviteCode: code } = await running.network.call<{ id: string; inviteCode: string }>(
        'POST',
        `${at}/groups`,
        { subject: 'Garden', members: [] },
      ));
      await running.network.call('POST', `${at}/picture`, { base64: PHOTO.bytes.toString('base64'), group });
    });

    const invite = async (body: string, more: object) => {
      const { status, body: sent } = await client.post<{ message: { group_invite: { preview?: string } } }>(
        `/groups/link/${code}`,
        { to: ada.phone, body: `${body} %URL%`, ...more },
      );
      expect(status).toBe(200);
      await ada.waitFor({ text: `${body} https://chat.whatsapp.com/${code}` });
      const onPhone = (await journey.onPhone(ada, {
        text: `${body} https://chat.whatsapp.com/${code}`,
      })) as Shown & { previewPictureBytes?: number };
      const { preview } = sent.message.group_invite;
      expect(onPhone.previewPictureBytes).toBe(preview && Buffer.from(preview.split(',')[1] ?? '', 'base64').length);
      return preview;
    };

    it("shows the group's picture, another one that is given, or none", async () => {
      const own = await invite('Come', {});
      expect(own).toMatch(/^data:image\/jpeg;base64,/);
      const given = await invite('Look', { preview_type: 'media', media: base64(picture(30, 90)) });
      expect(given).toMatch(/^data:image\/jpeg;base64,/);
      expect(given).not.toBe(own);
      expect(await invite('Plain', { preview_type: 'none', media: base64(PHOTO) })).toBeUndefined();
      const refused = await client.post<{ error: { details: string } }>(`/groups/link/${code}`, {
        to: ada.phone,
        media: 'png-00000000000000000000000000000000-00000000000000',
      });
      expect([refused.status, refused.body.error.details]).toEqual([404, 'media: no such media id']);
    }, 60_000);
  });
});
