import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toMediaId, type Chat, type Message } from '@dormouse/gateway-contract';
import type { ReceivedCommand } from '@dormouse/queues';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, type TestChannel } from '../test-edge.js';
import { PNG } from './test-requests.js';

const CHAT = '15550001111@s.whatsapp.net';
const EXPIRED = 'https://objects.example.com/expired?X-Amz-Date=20200101T000000Z';

let bucket: TestBucket;
let spool: string;
let edge: RunningEdge;
let channel: TestChannel;
let received: ReceivedCommand[];

beforeAll(async () => {
  bucket = await createTestBucket();
  spool = await mkdtemp(join(tmpdir(), 'dormouse-edge-spool-'));
  edge = await RunningEdge.start({
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    SPOOL_DIRECTORY: spool,
    RATE_OTHER: 'off',
  });
  await edge.ready();
}, 60_000);

afterAll(async () => {
  await edge.stop();
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
}, 30_000);

beforeEach(async () => {
  channel = await edge.channel();
  received = [];
  edge.worker(channel, (command) => {
    received.push(command);
    return { ok: false, error: { status: 404, message: 'not found' } };
  });
});

const ask = (route: string) => edge.ask(route, { token: channel.token });

/** A received picture, with or without its file in the media store. */
async function receivedPicture({
  stored,
}: {
  stored: boolean;
}): Promise<{ id: string; mediaId: string; bytes: Buffer }> {
  const id = `${randomBytes(6).toString('base64').replaceAll('+', '.').replaceAll('/', '_')}-gICAgICA`;
  const mediaId = toMediaId('png', id);
  const bytes = Buffer.concat([PNG, randomBytes(20)]);
  if (stored) {
    const form = new FormData();
    form.append('media', new Blob([bytes]), 'a.png');
    const upload = await fetch(`${edge.url}/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${channel.token}` },
      body: form,
    });
    const { id: uploadedId } = (await upload.json()) as { id: string };
    await edge.database.pool.query(
      `UPDATE media_files SET id = $3, origin = 'received' WHERE channel_id = $1 AND id = $2`,
      [channel.id, uploadedId, mediaId],
    );
  }
  const image = { id: mediaId, mime_type: 'image/png', file_size: bytes.length, caption: 'look', link: EXPIRED };
  const timestamp = Math.floor(Date.now() / 1_000);
  await edge.database.prisma.message.create({
    data: {
      channelId: channel.id,
      id,
      chatId: CHAT,
      type: 'image',
      fromMe: false,
      keyId: '3EB0',
      keyRemote: CHAT,
      timestamp,
      source: 'mobile',
      content: { image },
    },
  });
  await edge.database.pool.query(
    `INSERT INTO chats (channel_id, id, type, last_message_id, timestamp) VALUES ($1, $2, 'contact', $3, $4)
     ON CONFLICT (channel_id, id) DO UPDATE SET last_message_id = excluded.last_message_id`,
    [channel.id, CHAT, id, timestamp],
  );
  return { id, mediaId, bytes };
}

const linkOf = (message: Message | undefined) => (message?.['image'] as { link?: string } | undefined)?.link;

/** The links that every read of one message answers. */
async function linksRead(id: string): Promise<(string | undefined)[]> {
  const one = (await ask(`GET /messages/${id}`)).json as Message;
  const all = (await ask('GET /messages/list')).json as { messages: Message[] };
  const ofChat = (await ask(`GET /messages/list/${CHAT}`)).json as { messages: Message[] };
  const chats = (await ask('GET /chats')).json as { chats: Chat[] };
  const chat = (await ask(`GET /chats/${CHAT}`)).json as Chat;
  expect(one).toMatchObject({ id, image: { caption: 'look' } });
  return [one, all.messages[0], ofChat.messages[0], chats.chats[0]?.last_message, chat.last_message].map(linkOf);
}

describe('the link of a received file', () => {
  it('works at every read, though the one its message was stored with has expired', async () => {
    const { id, bytes } = await receivedPicture({ stored: true });
    for (const link of await linksRead(id)) {
      const opened = await fetch(link ?? '');
      expect([opened.status, Buffer.from(await opened.arrayBuffer()).equals(bytes)]).toEqual([200, true]);
    }
  });

  it('is left out where the file is not there', async () => {
    const { id } = await receivedPicture({ stored: false });
    expect(await linksRead(id)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});

describe('DELETE /media/{MediaID} of a received file', () => {
  it.each([true, false])('is for good, though the network could still give it (in the store: %s)', async (stored) => {
    const { id, mediaId } = await receivedPicture({ stored });
    expect((await ask(`DELETE /media/${mediaId}`)).json).toEqual({ success: true });
    const got = await ask(`GET /media/${mediaId}`);
    expect([got.status, got.error.details]).toEqual([404, 'MediaID: no such media']);
    expect((await ask(`DELETE /media/${mediaId}`)).status).toBe(404);
    const send = await edge.ask('POST /messages/image', {
      token: channel.token,
      body: { to: '15550001111', media: mediaId },
    });
    expect([send.status, send.error.details]).toEqual([404, 'media: no such media id']);
    expect(received).toEqual([]);
    expect(await linksRead(id)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it('is 404 for a message of another channel', async () => {
    const { mediaId } = await receivedPicture({ stored: true });
    const other = await edge.channel();
    expect((await edge.ask(`DELETE /media/${mediaId}`, { token: other.token })).status).toBe(404);
    expect((await ask(`GET /media/${mediaId}`)).status).toBe(200);
  });
});
