import { createHash, randomBytes } from 'node:crypto';
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
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { testNetwork } from '../socket/test-network.js';
import { IncomingMedia } from './incoming.js';
import { MediaHost } from './media-host.js';
import { mediaMessage } from './media-message.js';
import { OutgoingMedia, type UploadingSession } from './outgoing.js';
import { Preparation } from './preparation.js';
import { FileHost, listen, uploadTo } from './test-file-host.js';
import { testImages } from './test-images.js';

const SENDER = 'CH-sender';
const RECEIVER = 'CH-receiver';
const MEDIA_ID = 'bin-3eb0000000000000001004-c002039eda2fd7';
/** In the middle of the file, behind the heads of requests and answers. */
const MIDDLE = 200_000;

const fileHost = new FileHost();
let directory: string;
let server: Awaited<ReturnType<typeof listen>>;
let test: { database: TestStore; bucket: TestBucket; proxy: FaultProxy };
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
  directory = await mkdtemp(join(tmpdir(), 'dormouse-breaks-'));
  server = await listen(fileHost);
  const bucket = await createTestBucket();
  test = { database: await createTestDatabase('regional'), bucket, proxy: await FaultProxy.to(bucket.endpoint) };
  database = openRegionalDatabase({ url: test.database.url, applicationName: 'spec' });
  storage = new ObjectStorage({ ...bucket, endpoint: test.proxy.url, attempts: 2 });
  uploads = new MediaUploads({ database, storage });
  reader = new MediaReader({ database, storage });
  const network = new NetworkMedia({ database, storage });
  const spool = await Spool.open(directory);
  const limits = DEFAULT_MEDIA_LIMITS;
  host = new MediaHost({ origin: `http://${server.address}` });
  const preparation = new Preparation({ spool, limits, ffmpeg: undefined, images });
  outgoing = new OutgoingMedia({ network, storage, spool, limits, preparation, host });
  incoming = new IncomingMedia({ network, spool, host });
  session = { channelId: SENDER, network: testNetwork({ waUploadToServer: uploadTo(server.address) }) };
}, 30_000);

afterAll(async () => {
  closeImages();
  await host.close();
  storage.close();
  await database.close();
  await test.proxy.close();
  await test.database.drop();
  await test.bucket.drop();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

afterEach(async () => {
  test.proxy.breakAfter(undefined);
  expect(await readdir(directory)).toEqual([]);
});

function given(bytes: Buffer): Promise<MediaFile> {
  const file = {
    path: '',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest(),
    head: bytes.subarray(0, 4_100),
    read: () => Readable.from([bytes]),
    dispose: () => Promise.resolve(),
    mimeType: 'application/octet-stream',
    extension: 'bin',
    fileName: undefined,
  };
  return uploads.keep(SENDER, file, 'uploaded');
}

describe('the object storage failing in the middle of a file', () => {
  it('in a send: 502, nothing reaches the network, and the next send works', async () => {
    const file = await given(randomBytes(600_000));
    fileHost.reset();
    test.proxy.breakAfter(MIDDLE);
    await expect(outgoing.place(session, file, 'document')).rejects.toMatchObject({
      status: 502,
      details: 'the media storage is not reachable',
    });
    expect(fileHost.files.size).toBe(0);
    test.proxy.breakAfter(undefined);
    await outgoing.place(session, file, 'document');
    expect(fileHost.files.size).toBe(1);
  }, 30_000);

  it('in a fetch: 502, nothing incomplete is stored, and it can be fetched later', async () => {
    const bytes = randomBytes(600_000);
    const placed = await outgoing.place(session, await given(bytes), 'document');
    const received = {
      channelId: RECEIVER,
      mediaId: MEDIA_ID,
      message: {
        key: { id: '3EB0C0FFEE', remoteJid: '15550001111@s.whatsapp.net', fromMe: false },
        message: mediaMessage(placed, { fileName: 'a.bin' }),
      },
    };
    test.proxy.breakAfter(MIDDLE);
    await expect(incoming.fetch(received)).rejects.toMatchObject({ status: 502 });
    expect(await reader.file(RECEIVER, MEDIA_ID)).toBeUndefined();
    test.proxy.breakAfter(undefined);
    const stored: string[] = [];
    for await (const { key } of storage.list(`media/${RECEIVER}/`)) stored.push(key);
    expect(stored).toEqual([]);
    await incoming.fetch(received);
    const opened = await reader.open(RECEIVER, MEDIA_ID);
    expect(opened && (await buffer(opened.object.stream)).equals(bytes)).toBe(true);
  }, 30_000);
});
