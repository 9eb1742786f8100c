import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver, type ReceivedCall } from '../testing/test-receiver.js';

jest.setTimeout(30_000);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Body {
  messages: { id: string; image: { id: string; link?: string } }[];
}
const bodyOf = (call: ReceivedCall | undefined) => call?.body as unknown as Body;
const linkOf = (call: ReceivedCall | undefined) => bodyOf(call).messages[0]?.image.link;
/** A call without its link. */
const restOf = (call: ReceivedCall | undefined) =>
  JSON.stringify([call?.headers['webhook-id'], call?.headers['webhook-sequence'], bodyOf(call)]).replace(
    JSON.stringify(linkOf(call)),
    '',
  );

describe('a link to a file in an event', () => {
  let outbox: TestOutbox;
  let bucket: TestBucket;
  let storage: ObjectStorage;
  let hook: TestReceiver;
  let running: RunningDispatcher;
  let channel: string;
  let uploads: MediaUploads;
  let fileId: string;
  let written: string;

  beforeAll(async () => {
    bucket = await createTestBucket();
    storage = new ObjectStorage(bucket);
  });
  afterAll(async () => {
    storage.close();
    await bucket.drop();
  });
  beforeEach(async () => {
    outbox = await TestOutbox.open();
    hook = await TestReceiver.open();
    channel = await outbox.channel([webhook({ url: hook.url })], { max_callback_backoff_delay_ms: 10 });
    const stores = { database: outbox.database, storage };
    uploads = new MediaUploads(stores);
    const bytes = Buffer.from('bytes of the picture');
    const file = await uploads.keep(
      channel,
      {
        path: '',
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest(),
        head: bytes,
        read: () => Readable.from([bytes]),
        dispose: () => Promise.resolve(),
        mimeType: 'image/jpeg',
        extension: 'jpeg',
        fileName: undefined,
      },
      'uploaded',
    );
    fileId = file.id;
    // Signed for another key, so that it differs from every link that is signed later.
    written = await storage.signGet(randomBytes(8).toString('hex'), { expiresInS: 60 });
    const image = { id: fileId, mime_type: 'image/jpeg', file_size: bytes.length, link: written, caption: 'Tea?' };
    await outbox.write(channel);
    await outbox.database.pool.query('UPDATE events SET payload = $2 WHERE channel_id = $1', [
      channel,
      { messages: [{ id: 'M1', type: 'image', from_me: false, image }] },
    ]);
  });
  afterEach(async () => {
    await running.stop();
    await hook.close();
    await outbox.close();
  });

  const start = (): void => {
    running = startDispatcher(outbox.url, {
      links: (database) => new FreshLinks(new MediaReader({ database, storage, linkTtlS: 86_400 })),
    });
  };
  const bytesAt = async (link: string | undefined) => (await fetch(link ?? 'https://none.invalid')).text();

  it('is sent as it was written while it works, and works when the event is delivered after a day of failures', async () => {
    hook.behaviour = () => 503;
    start();
    running.signal(channel);
    await hook.received(1);
    expect(linkOf(hook.calls[0])).toBe(written);
    await running.dispatcher.idle();
    await outbox.age(channel, DAY_MS);
    await outbox.passTime(DAY_MS);
    hook.behaviour = () => 200;
    running.dispatcher.sweepNow();
    await hook.until(() => hook.calls.some((call) => linkOf(call) !== written));
    const [first] = hook.calls;
    const late = hook.calls.at(-1);
    expect(restOf(late)).toBe(restOf(first));
    expect(await bytesAt(linkOf(late))).toBe('bytes of the picture');
  });

  it('works in a dead letter that is redriven, and in a replay', async () => {
    hook.behaviour = () => 503;
    await outbox.age(channel, 73 * HOUR_MS);
    start();
    running.signal(channel);
    await hook.received(1);
    await running.dispatcher.idle();
    hook.behaviour = () => 200;
    await outbox.redrive(channel, [1]);
    running.dispatcher.sweepNow();
    await hook.received(2);
    await running.dispatcher.idle();
    await outbox.database.pool.query('UPDATE webhook_cursors SET position = 0 WHERE channel_id = $1', [channel]);
    running.signal(channel);
    await hook.received(3);
    for (const call of hook.calls) {
      expect(restOf(call)).toBe(restOf(hook.calls[0]));
      expect(await bytesAt(linkOf(call))).toBe('bytes of the picture');
    }
  });

  it('is left out where the file was deleted meanwhile', async () => {
    await uploads.delete(channel, fileId);
    await outbox.age(channel, DAY_MS);
    start();
    running.signal(channel);
    await hook.received(1);
    expect(bodyOf(hook.calls[0]).messages[0]?.image).toMatchObject({ id: fileId, caption: 'Tea?' });
    expect(linkOf(hook.calls[0])).toBeUndefined();
  });
});
