import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { DEFAULT_MEDIA_LIMITS, Spool, type TakenFile } from '@dormouse/media-files';
import { NetworkMedia } from '@dormouse/media-store/network';
import { MediaReader, type MediaFile } from '@dormouse/media-store/read';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { proto, type BinaryNode } from '@whiskeysockets/baileys';
import { aesEncryptGCM, downloadContentFromMessage, encryptedStream, hkdf } from '../socket/test-library.js';
import { testNetwork } from '../socket/test-network.js';
import { IncomingMedia } from './incoming.js';
import { mediaMessage } from './media-message.js';
import { MediaHost } from './media-host.js';
import { OutgoingMedia, type UploadingSession } from './outgoing.js';
import { Preparation } from './preparation.js';
import { FileHost, listen, uploadTo } from './test-file-host.js';
import { testImages } from './test-images.js';
import { phone } from '../socket/files/test-phone.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const START_MS = Date.UTC(2026, 10, 1);
const CHANNEL = 'CH-media';
const MEDIA_ID = 'bin-3eb0000000000000001004-c002039eda2fd7';
const LARGEST = 8 * 1024 * 1024;

let nowMs = START_MS;
let directory: string;
let server: Awaited<ReturnType<typeof listen>>;
const fileHost = new FileHost();
let test: { database: TestStore; bucket: TestBucket };
let database: RegionalDatabase;
let storage: ObjectStorage;
let uploads: MediaUploads;
let reader: MediaReader;
let outgoing: OutgoingMedia;
let incoming: IncomingMedia;
let host: MediaHost;
let session: UploadingSession;

const { images, close: closeImages } = testImages();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-transfers-'));
  server = await listen(fileHost);
  test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
  database = openRegionalDatabase({ url: test.database.url, applicationName: 'spec' });
  storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
  const stores = { database, storage, now: () => nowMs };
  uploads = new MediaUploads(stores);
  reader = new MediaReader(stores);
  const network = new NetworkMedia(stores);
  const spool = await Spool.open(directory);
  const limits = { ...DEFAULT_MEDIA_LIMITS, image: 1_000 };
  host = new MediaHost({ origin: `http://${server.address}` });
  const preparation = new Preparation({ spool, limits, ffmpeg: undefined, images });
  outgoing = new OutgoingMedia({ network, storage, spool, limits, preparation, host, now: () => nowMs });
  incoming = new IncomingMedia({ network, spool, host, maxBytes: LARGEST, phoneTimeoutMs: 500 });
  session = { channelId: CHANNEL, network: testNetwork({ waUploadToServer: uploadTo(server.address) }) };
});

afterAll(async () => {
  closeImages();
  await host.close();
  storage.close();
  await database.close();
  await test.database.drop();
  await test.bucket.drop();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

beforeEach(() => {
  nowMs = START_MS;
  fileHost.reset();
});

afterEach(async () => {
  expect(await readdir(directory)).toEqual([]);
});

function given(
  bytes: Buffer,
  mimeType = 'application/octet-stream',
  origin: 'uploaded' | 'sent' = 'uploaded',
): Promise<MediaFile> {
  const file: TakenFile = {
    path: '',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest(),
    head: bytes.subarray(0, 4_100),
    read: () => Readable.from([bytes]),
    dispose: () => Promise.resolve(),
    mimeType,
    extension: 'bin',
    fileName: undefined,
  };
  return uploads.keep(CHANNEL, file, origin);
}

async function sentDocument(bytes: Buffer) {
  const placed = await outgoing.place(session, await given(bytes), 'document');
  return { placed, message: mediaMessage(placed, { fileName: 'a.bin' }) };
}

const key = { id: '3EB0C0FFEE', remoteJid: '15550001111@s.whatsapp.net', fromMe: false };

async function kept(channelId: string): Promise<Buffer | undefined> {
  const opened = await reader.open(channelId, MEDIA_ID);
  return opened && buffer(opened.object.stream);
}

/** Another channel each time: nothing is known there yet. */
const receiver = () => `CH-${randomBytes(4).toString('hex')}`;

describe('a file on its way out and in', () => {
  it.each([1, 15, 16, 17, 65_536, 1_000_003])('of %d bytes arrives byte for byte', async (size) => {
    const bytes = randomBytes(size);
    const { message, placed } = await sentDocument(bytes);
    expect(Buffer.from(placed.copy.fileSha256).equals(createHash('sha256').update(bytes).digest())).toBe(true);
    const hidden = fileHost.files.get(placed.copy.directPath) ?? Buffer.alloc(0);
    expect(Buffer.from(placed.copy.fileEncSha256).equals(createHash('sha256').update(hidden).digest())).toBe(true);
    const channelId = receiver();
    await incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } });
    expect((await kept(channelId))?.equals(bytes)).toBe(true);
  });
});

describe('other clients of the network', () => {
  it('read what is sent', async () => {
    const bytes = randomBytes(100_001);
    const { placed } = await sentDocument(bytes);
    const url = `http://${server.address}${placed.copy.directPath}`;
    const stream = await downloadContentFromMessage({ mediaKey: placed.copy.mediaKey, url }, 'document');
    expect((await buffer(stream)).equals(bytes)).toBe(true);
  });

  it('send what is read', async () => {
    const bytes = randomBytes(100_001);
    const theirs = await encryptedStream(bytes, 'document');
    fileHost.files.set('/v/theirs', await readFile(theirs.encFilePath));
    await rm(theirs.encFilePath);
    const { mediaKey, fileSha256, fileLength } = theirs;
    const message = { documentMessage: { directPath: '/v/theirs', mediaKey, fileSha256, fileLength } };
    const channelId = receiver();
    await incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } });
    expect((await kept(channelId))?.equals(bytes)).toBe(true);
  });
});

describe('a file that is already uploaded', () => {
  const uploadsSeen = () => fileHost.files.size;

  it('is used by every send of the same content, at once and later', async () => {
    const bytes = randomBytes(500);
    const file = await given(bytes);
    const again = await given(bytes, 'text/plain', 'sent');
    await Promise.all([file, again, file].map((one) => outgoing.place(session, one, 'document')));
    nowMs += 0.5 * DAY_MS;
    const placed = await outgoing.place(session, again, 'document');
    expect(uploadsSeen()).toBe(1);
    expect(fileHost.reads).toBe(0);
    expect(placed.facts.mimeType).toBe('text/plain');
  });

  it('is checked when older than a day, and uploaded again when gone or too old', async () => {
    const file = await given(randomBytes(500));
    await outgoing.place(session, file, 'document');
    nowMs += 2 * DAY_MS;
    await outgoing.place(session, file, 'document');
    expect([uploadsSeen(), fileHost.reads]).toEqual([1, 1]);
    for (const status of [404, 410]) {
      nowMs += 2 * DAY_MS;
      fileHost.gone = status;
      await outgoing.place(session, file, 'document');
      fileHost.gone = undefined;
    }
    expect(uploadsSeen()).toBe(3);
    nowMs += 13 * DAY_MS;
    await outgoing.place(session, file, 'document');
    expect(uploadsSeen()).toBe(4);
  });

  it('is another copy for another kind', async () => {
    const file = await given(randomBytes(500), 'application/pdf');
    await outgoing.place(session, file, 'document');
    await outgoing.place(session, file, 'audio', { asIs: true });
    expect(uploadsSeen()).toBe(2);
  });
});

describe('a file that cannot be sent', () => {
  it('is refused with 413 where its kind allows less than it was uploaded as', async () => {
    const file = await given(randomBytes(2_000), 'image/png');
    await expect(outgoing.place(session, file, 'image')).rejects.toMatchObject({
      status: 413,
      details: 'image: larger than 1000 bytes',
    });
  });

  it('is 502 when its upload fails, and is sent with the next send', async () => {
    const file = await given(randomBytes(700));
    fileHost.refuse = true;
    await expect(outgoing.place(session, file, 'document')).rejects.toMatchObject({ status: 502 });
    fileHost.refuse = false;
    await outgoing.place(session, file, 'document');
    expect(fileHost.files.size).toBe(1);
  });

  it('is 502 when its stored bytes are gone or changed', async () => {
    const file = await given(randomBytes(700));
    await storage.put(file.objectKey, Buffer.from('other'));
    await expect(outgoing.place(session, file, 'document')).rejects.toMatchObject({ status: 502 });
    await storage.delete([file.objectKey]);
    await expect(outgoing.place(session, file, 'document')).rejects.toMatchObject({ status: 502 });
  });
});

describe('a damaged file from the network', () => {
  const fetchDamaged = async (change: Partial<proto.Message.IDocumentMessage> = {}) => {
    const { message } = await sentDocument(randomBytes(100_000));
    Object.assign(message.documentMessage ?? {}, change);
    const channelId = receiver();
    await expect(incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } })).rejects.toMatchObject({
      status: 502,
    });
    expect(await kept(channelId)).toBeUndefined();
  };

  it('is never stored: a changed byte', async () => {
    fileHost.spoil = (bytes, response) => {
      const changed = Buffer.from(bytes);
      changed[500] = (changed[500] ?? 0) ^ 1;
      response.end(changed);
    };
    await fetchDamaged();
    expect(fileHost.reads).toBe(3);
    await fetchDamaged({ fileSha256: null, fileLength: null });
  });

  it('is never stored: cut short, with and without a broken connection', async () => {
    fileHost.spoil = (bytes, response) => void response.write(bytes.subarray(0, 5_000), () => response.destroy());
    await fetchDamaged();
    fileHost.spoil = (bytes, response) =>
      void response.setHeader('content-length', 5_000).end(bytes.subarray(0, 5_000));
    await fetchDamaged();
    fileHost.spoil = (_bytes, response) => void response.setHeader('content-length', 0).end();
    await fetchDamaged();
  });

  it('is never stored: another length or hash than announced', async () => {
    await fetchDamaged({ fileLength: 99_999 });
    await fetchDamaged({ fileSha256: randomBytes(32) });
  });

  it('is fetched again and stored when only one transfer failed', async () => {
    const bytes = randomBytes(100_000);
    const { message } = await sentDocument(bytes);
    fileHost.spoil = (whole, response) => {
      fileHost.spoil = (next, answer) => void answer.end(next);
      response.write(whole.subarray(0, 5_000), () => response.destroy());
    };
    const channelId = receiver();
    await incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } });
    expect((await kept(channelId))?.equals(bytes)).toBe(true);
  });
});

describe('a file that is too large', () => {
  it('is refused unread if its size is announced, else while it arrives', async () => {
    const { message } = await sentDocument(randomBytes(LARGEST + 100_000));
    for (const [fileLength, reads] of [
      [LARGEST + 100_000, 0],
      [null, 1],
    ]) {
      Object.assign(message.documentMessage ?? {}, { fileLength });
      const fetching = incoming.fetch({ channelId: receiver(), mediaId: MEDIA_ID, message: { key, message } });
      await expect(fetching).rejects.toMatchObject({ status: 413 });
      expect(fileHost.reads).toBe(reads);
    }
  }, 30_000);
});

describe('content the channel has already', () => {
  it('is not fetched again', async () => {
    const bytes = randomBytes(300);
    const { message } = await sentDocument(bytes);
    await incoming.fetch({ channelId: CHANNEL, mediaId: MEDIA_ID, message: { key, message } });
    expect(fileHost.reads).toBe(0);
    expect((await kept(CHANNEL))?.equals(bytes)).toBe(true);
  });

  it('is fetched once for parallel calls', async () => {
    const { message } = await sentDocument(randomBytes(300));
    const channelId = receiver();
    await Promise.all([1, 2, 3].map(() => incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } })));
    expect(fileHost.reads).toBe(1);
  });
});

describe('a file that the network no longer has', () => {
  it.each([403, 404, 410])('is requested from the phone after %d, and then fetched', async (status) => {
    const bytes = randomBytes(2_000);
    const { message, placed } = await sentDocument(bytes);
    fileHost.gone = status;
    const requests: BinaryNode[] = [];
    const { socket, listening } = phone((node, emit) => {
      requests.push(node);
      fileHost.gone = undefined;
      fileHost.files.set('/v/new', fileHost.files.get(placed.copy.directPath) ?? Buffer.alloc(0));
      fileHost.files.delete(placed.copy.directPath);
      const { ResultType } = proto.MediaRetryNotification;
      const notification = proto.MediaRetryNotification.encode({
        stanzaId: key.id,
        result: ResultType.SUCCESS,
        directPath: '/v/new',
      });
      const secret = hkdf(Buffer.from(placed.copy.mediaKey), 32, { info: 'WhatsApp Media Retry Notification' });
      const iv = randomBytes(12);
      const ciphertext = aesEncryptGCM(notification.finish(), secret, iv, Buffer.from(key.id));
      emit([{ key, media: { ciphertext, iv } }]);
    });
    const channelId = receiver();
    await incoming.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message }, network: testNetwork(socket) });
    expect((await kept(channelId))?.equals(bytes)).toBe(true);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ tag: 'receipt', attrs: { id: key.id, type: 'server-error' } });
    expect(listening()).toBe(0);
  });

  it('is 404 when the phone has lost it, too, or there is no phone to request it from', async () => {
    const { message } = await sentDocument(randomBytes(2_000));
    fileHost.gone = 410;
    const { socket } = phone((_node, emit) => emit([{ key, error: new Error('not found') as never }]));
    for (const phoneSocket of [socket, undefined]) {
      const fetching = incoming.fetch({
        channelId: receiver(),
        mediaId: MEDIA_ID,
        message: { key, message },
        network: phoneSocket && testNetwork(phoneSocket),
      });
      await expect(fetching).rejects.toMatchObject({ status: 404 });
    }
  });

  it('is 503 when the phone does not answer or the connection closes, and no listener is left', async () => {
    const { message } = await sentDocument(randomBytes(2_000));
    fileHost.gone = 404;
    const silent = phone(() => undefined);
    const closing = phone(() => setImmediate(() => closing.emit('connection.update', { connection: 'close' })));
    for (const { socket, listening } of [silent, closing]) {
      const fetching = incoming.fetch({
        channelId: receiver(),
        mediaId: MEDIA_ID,
        message: { key, message },
        network: testNetwork(socket),
      });
      await expect(fetching).rejects.toMatchObject({ status: 503 });
      expect(listening()).toBe(0);
    }
  });
});

describe('a message without a file', () => {
  it('is 404', async () => {
    const fetching = incoming.fetch({
      channelId: receiver(),
      mediaId: MEDIA_ID,
      message: { key, message: { conversation: 'x' } },
    });
    await expect(fetching).rejects.toMatchObject({ status: 404 });
  });
});
