import { DEFAULT_SETTINGS, type ChannelSettings } from '@dormouse/gateway-contract';
import type { MessageRecord } from '@dormouse/message-store/write';
import type { OpenSession } from '../sessions/open-session.js';
import { AutoDownload, type AutoDownloadOptions } from './auto-download.js';

type Kinds = ChannelSettings['media']['auto_download'];

const session = { channelId: 'CH', socket: {} } as OpenSession;

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
  const linksOf = async (...records: MessageRecord[]) =>
    (await new AutoDownload(options).complete(session, records)).map(({ message }) => {
      const content: unknown = message[message.type];
      return typeof content === 'object' && content !== null && 'link' in content ? content.link : undefined;
    });
  return { fetched, linksOf };
}

describe('AutoDownload', () => {
  it('fetches the kinds that the channel wants, in the order of the messages', async () => {
    const { fetched, linksOf } = downloads(['image', 'video']);
    const links = await linksOf(record('text'), record('image'), record('voice'), record('gif'));
    expect(links).toEqual([undefined, 'https://files/image-00-00', undefined, 'https://files/gif-00-00']);
    expect(fetched).toEqual(['image-00-00', 'gif-00-00']);
  });

  it('does not ask for settings when nothing carries a file', async () => {
    const { linksOf } = downloads([], { settingsOf: () => Promise.reject(new Error('must not be asked')) });
    expect(await linksOf(record('text'))).toEqual([undefined]);
  });

  it.each<[string, Partial<AutoDownloadOptions>]>([
    ['cannot be had', { incoming: { fetch: () => Promise.reject(new Error('gone')) } }],
    ['does not come in time', { incoming: { fetch: () => new Promise<never>(() => undefined) } }],
    ['was not kept', { files: { file: () => Promise.resolve(undefined), link: () => Promise.resolve('') } }],
    ['belongs to a channel that is gone', { settingsOf: () => Promise.resolve(undefined) }],
    ['belongs to settings that cannot be read', { settingsOf: () => Promise.reject(new Error('away')) }],
  ])('tells a message without a link when its file %s', async (_why, changes) => {
    expect(await downloads(['image'], changes).linksOf(record('image'))).toEqual([undefined]);
  });
});
