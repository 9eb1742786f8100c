import { DEFAULT_SETTINGS, type ChannelSettings } from '@dormouse/gateway-contract';
import { StorageFull } from '@dormouse/media-store/network';
import type { MessageRecord } from '@dormouse/message-store/write';
import { testNetwork } from '../socket/test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { deferred } from '../socket/deferred.js';
import { AutoDownload, linked, type AutoDownloadOptions } from './auto-download.js';

type Kinds = ChannelSettings['media']['auto_download'];

const session = { channelId: 'CH', network: testNetwork({}) } as OpenSession;

function record(type: 'image' | 'gif' | 'text' | 'voice', id = `${type}-00-00`): MessageRecord {
  const content = type === 'text' ? { body: 'hello' } : { id, mime_type: 'a/b', file_size: 1 };
  return {
    message: { id: 'm', type, chat_id: 'c', from_me: false, timestamp: 1, source: 'mobile', [type]: content },
    key: { id: 'K', remote: 'c' },
    proto: Buffer.alloc(0),
  };
}

function downloads(kinds: Kinds, changes: Partial<AutoDownloadOptions> = {}) {
  const fetched: string[] = [];
  const options: AutoDownloadOptions = {
    incoming: {
      fetch: ({ mediaId }) => {
        fetched.push(mediaId);
        return Promise.resolve();
      },
    },
    files: {
      file: (_channel, id) => Promise.resolve({ id } as Awaited<ReturnType<AutoDownloadOptions['files']['file']>>),
      link: ({ id }) => Promise.resolve(`https://files/${id}`),
    },
    settingsOf: () =>
      Promise.resolve({ ...DEFAULT_SETTINGS, media: { ...DEFAULT_SETTINGS.media, auto_download: kinds } }),
    withinMs: 10,
    ...changes,
  };
  const auto = new AutoDownload(options);
  const begin = (...records: MessageRecord[]) => auto.begin(session, records);
  /** The links that files come with, by the place of their message; null for one that is not fetched. */
  const linksOf = async (...records: MessageRecord[]) => {
    const begun = await begin(...records);
    return Promise.all(records.map(async (one) => (begun.has(one) ? await begun.get(one)?.link : null)));
  };
  return { fetched, begin, linksOf };
}

describe('AutoDownload', () => {
  it('fetches the kinds that the channel wants, in the order of the messages', async () => {
    const { fetched, linksOf } = downloads(['image', 'video']);
    const links = await linksOf(record('text'), record('image'), record('voice'), record('gif'));
    expect(links).toEqual([null, 'https://files/image-00-00', null, 'https://files/gif-00-00']);
    expect(fetched).toEqual(['image-00-00', 'gif-00-00']);
  });

  it('does not read the settings when no message has a file', async () => {
    const { linksOf } = downloads([], { settingsOf: () => Promise.reject(new Error('must not be called')) });
    expect(await linksOf(record('text'))).toEqual([null]);
  });

  it('states what became of each file: fetched, not fetched because the storage of the channel is full, or failed', async () => {
    const outcomes: string[] = [];
    const onEnded = (outcome: string, channelId: string) => void outcomes.push(`${channelId} ${outcome}`);
    const failing = (error: Error): Partial<AutoDownloadOptions> => ({
      onEnded,
      incoming: { fetch: () => Promise.reject(error) },
    });
    await downloads(['image'], { onEnded }).linksOf(record('image'));
    expect(await downloads(['image'], failing(new StorageFull(1))).linksOf(record('image'))).toEqual([undefined]);
    await downloads(['image'], failing(new Error('gone'))).linksOf(record('image'));
    expect(outcomes).toEqual(['CH fetched', 'CH storage_full', 'CH failed']);
  });

  it.each<[string, Partial<AutoDownloadOptions>]>([
    ['cannot be had', { incoming: { fetch: () => Promise.reject(new Error('gone')) } }],
    ['was not kept', { files: { file: () => Promise.resolve(undefined), link: () => Promise.resolve('') } }],
  ])('ends without a link, and no message waits for it, when its file %s', async (_why, changes) => {
    const image = record('image');
    const file = (await downloads(['image'], { ...changes, withinMs: 60_000 }).begin(image)).get(image);
    await file?.waited;
    expect(await file?.link).toBeUndefined();
  });

  it.each<[string, Partial<AutoDownloadOptions>]>([
    ['a channel that is gone', { settingsOf: () => Promise.resolve(undefined) }],
    ['settings that cannot be read', { settingsOf: () => Promise.reject(new Error('away')) }],
  ])('fetches nothing for %s', async (_whose, changes) => {
    expect(await downloads(['image'], changes).linksOf(record('image'))).toEqual([null]);
  });

  it('lets a message wait for a bounded time, and notifies the link when the file is stored later', async () => {
    const arrived = deferred<void>();
    const image = record('image');
    const { begin } = downloads(['image'], { incoming: { fetch: () => arrived.promise } });
    const file = (await begin(image)).get(image);
    await file?.waited;
    arrived.resolve();
    expect(await file?.link).toBe('https://files/image-00-00');
  });

  it('fetches two files of a channel at once, with a hundred waiting; more are left until they are requested', async () => {
    const fetched: string[] = [];
    const incoming = {
      fetch: ({ mediaId }: { mediaId: string }) => {
        fetched.push(mediaId);
        return new Promise<never>(() => undefined);
      },
    };
    const { begin } = downloads(['image'], { incoming });
    const records = Array.from({ length: 120 }, (_, number) => record('image', `image-${number}`));
    expect((await begin(...records)).size).toBe(100);
    expect(fetched).toEqual(['image-0', 'image-1']);
  });
});

describe('a message with a link', () => {
  const { message } = record('image');
  it('is the same otherwise', () => {
    expect(linked(message, 'image-00-00', 'https://x')).toEqual({
      ...message,
      image: { ...(message.image as object), link: 'https://x' },
    });
  });

  it('is none when it was deleted meanwhile, or is not that message any more', () => {
    expect(linked({ ...message, status: 'deleted' }, 'image-00-00', 'https://x')).toBeUndefined();
    expect(linked(message, 'image-other', 'https://x')).toBeUndefined();
    expect(linked(message, undefined, 'https://x')).toBeUndefined();
  });
});
