import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { DEFAULT_MEDIA_LIMITS, Spool } from '@dormouse/media-files';
import { NetworkMedia } from '@dormouse/media-store/network';
import { MediaReader, type MediaFile } from '@dormouse/media-store/read';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import sharp from 'sharp';
import { testNetwork } from '../socket/test-network.js';
import { IncomingMedia, type IncomingMediaOptions } from './incoming.js';
import { MediaHost } from './media-host.js';
import { mediaMessage } from './media-message.js';
import { OutgoingMedia, type UploadingSession } from './outgoing.js';
import { Preparation } from './preparation.js';
import { FileHost, listen, uploadTo } from './test-file-host.js';
import { testImages } from './test-images.js';

const SENDER = 'CH-sender';
const MEDIA_ID = 'bin-3eb0000000000000001004-c002039eda2fd7';

const fileHost = new FileHost();
let directory: string;
let server: Awaited<ReturnType<typeof listen>>;
let test: { database: TestStore; bucket: TestBucket };
let database: RegionalDatabase;
let storage: ObjectStorage;
let uploads: MediaUploads;
let reader: MediaReader;
let outgoing: OutgoingMedia;
let incomingOptions: IncomingMediaOptions;
let host: MediaHost;
let session: UploadingSession;

const { images, close: closeImages } = testImages();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-made-'));
  server = await listen(fileHost);
  test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
  database = openRegionalDatabase({ url: test.database.url, applicationName: 'spec' });
  storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
  uploads = new MediaUploads({ database, storage });
  reader = new MediaReader({ database, storage });
  const network = new NetworkMedia({ database, storage });
  const spool = await Spool.open(directory);
  const limits = DEFAULT_MEDIA_LIMITS;
  host = new MediaHost({ origin: `http://${server.address}` });
  const preparation = new Preparation({ spool, limits, ffmpeg: undefined, images });
  outgoing = new OutgoingMedia({ network, storage, spool, limits, preparation, host });
  incomingOptions = { network, spool, host };
  session = { channelId: SENDER, network: testNetwork({ waUploadToServer: uploadTo(server.address) }) };
}, 30_000);

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

afterEach(async () => {
  fileHost.reset();
  expect(await readdir(directory)).toEqual([]);
});

function given(bytes: Buffer, mimeType = 'application/octet-stream'): Promise<MediaFile> {
  const file = {
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
  return uploads.keep(SENDER, file, 'uploaded');
}

async function sentDocument(bytes: Buffer) {
  const placed = await outgoing.place(session, await given(bytes), 'document');
  return { message: mediaMessage(placed, { fileName: 'a.bin' }) };
}

const key = { id: '3EB0C0FFEE', remoteJid: '15550001111@s.whatsapp.net', fromMe: false };
/** Another channel each time: nothing is known there yet. */
const receiver = () => `CH-${randomBytes(4).toString('hex')}`;

async function kept(channelId: string, id = MEDIA_ID): Promise<Buffer | undefined> {
  const opened = await reader.open(channelId, id);
  return opened && buffer(opened.object.stream);
}

describe('a file that was converted for its message', () => {
  const png = () =>
    sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
  const sha256 = (bytes: Buffer | undefined) =>
    createHash('sha256')
      .update(bytes ?? '')
      .digest('hex');

  it('is stored as it was uploaded to the network, under an id of its own, beside the original', async () => {
    const bytes = await png();
    const file = await given(bytes, 'image/png');
    const { copy, facts } = await outgoing.place(session, file, 'sticker');
    const made = await reader.file(SENDER, facts.madeId ?? '');
    expect(made).toMatchObject({ origin: 'sent', mimeType: 'image/webp', size: copy.fileLength });
    expect(facts.madeId).toMatch(/^webp-[0-9a-f]{32}-[0-9a-f]{14}$/);
    expect(sha256(await kept(SENDER, facts.madeId))).toBe(Buffer.from(copy.fileSha256).toString('hex'));
    expect(sha256(await kept(SENDER, file.id))).toBe(sha256(bytes));
    // What passes unchanged is the upload itself.
    expect((await outgoing.place(session, file, 'image')).facts.madeId).toBeUndefined();
  });

  it('is converted once for many sends, and again after it was deleted', async () => {
    const file = await given(await png(), 'image/png');
    const first = await outgoing.place(session, file, 'sticker');
    expect((await outgoing.place(session, file, 'sticker')).facts.madeId).toBe(first.facts.madeId);
    await uploads.delete(SENDER, first.facts.madeId ?? '');
    const again = await outgoing.place(session, file, 'sticker');
    expect(await kept(SENDER, again.facts.madeId)).toBeDefined();
  });
});

describe('a file that does not arrive', () => {
  it('is 503 when the host does not respond, or stops in the middle, and can be fetched later', async () => {
    const bytes = randomBytes(300_000);
    const { message } = await sentDocument(bytes);
    const impatient = new IncomingMedia({ ...incomingOptions, stallTimeoutMs: 300 });
    const channelId = receiver();
    const fetching = () => impatient.fetch({ channelId, mediaId: MEDIA_ID, message: { key, message } });
    for (const spoil of [
      () => undefined,
      (whole: Buffer, response: ServerResponse) => void response.write(whole.subarray(0, 100_000)),
    ]) {
      fileHost.spoil = spoil;
      await expect(fetching()).rejects.toMatchObject({ status: 503, retryAfterS: 30 });
    }
    fileHost.spoil = (whole, response) => void response.end(whole);
    await fetching();
    expect((await kept(channelId))?.equals(bytes)).toBe(true);
  });

  it('delays no other channel, however many of them one channel fetches', async () => {
    const [slow, fast] = [await sentDocument(randomBytes(1_000)), await sentDocument(randomBytes(1_000))];
    const stuck: ServerResponse[] = [];
    const bothStuck = new Promise<void>((resolve) => {
      fileHost.spoil = (whole, response) => {
        if (stuck.length === 2) return void response.end(whole);
        stuck.push(response);
        if (stuck.length === 2) resolve();
      };
    });
    const fair = new IncomingMedia({ ...incomingOptions, maxParallel: 3, maxParallelPerChannel: 2 });
    const [slowChannel, fastChannel] = [receiver(), receiver()];
    const theirs = [1, 2, 3].map((number) =>
      fair.fetch({ channelId: slowChannel, mediaId: `${MEDIA_ID}${number}`, message: { key, message: slow.message } }),
    );
    await bothStuck;
    await fair.fetch({ channelId: fastChannel, mediaId: MEDIA_ID, message: { key, message: fast.message } });
    expect(await kept(fastChannel)).toBeDefined();
    for (const response of stuck) response.destroy();
    fileHost.spoil = (whole, response) => void response.end(whole);
    await Promise.all(theirs);
  });
});
