import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { testNetwork } from '../../socket/test-network.js';
import type { NetworkFile } from '../../media/outgoing.js';
import type { PreparationContext } from '../command-context.js';
import type { MediaTools } from './message-tools.js';
import { withRenewedFile } from './renew-file.js';

const DAY_S = 24 * 60 * 60;
const NOW_S = 1_790_000_000;
const context = {
  channelId: 'CH',
  openSession: () => Promise.resolve({ network: testNetwork({}) }),
} as unknown as PreparationContext;
const copy = { directPath: '/new', mediaKey: Buffer.alloc(32, 2), uploadedAtMs: NOW_S * 1_000, fileLength: 5 };

function stored(ageDays: number, fromMe = true): StoredMessage {
  const imageMessage = {
    directPath: '/old',
    mediaKey: Buffer.alloc(32, 1),
    caption: 'same',
    mediaKeyTimestamp: NOW_S - ageDays * DAY_S,
  };
  const image = { id: 'jpeg-00-00', mime_type: 'image/jpeg', file_size: 5 };
  return {
    message: { id: 'm', type: 'image', chat_id: 'c', from_me: fromMe, timestamp: NOW_S, source: 'api', image },
    key: { id: 'K', remote: 'c' },
    proto: Buffer.from(proto.Message.encode({ imageMessage }).finish()),
  };
}

function tools(has: boolean, calls: string[] = []): Pick<MediaTools, 'media' | 'now'> {
  let isStored = has;
  const media = {
    files: { file: () => Promise.resolve(isStored ? { id: 'jpeg-00-00' } : undefined) },
    outgoing: {
      place: (_session: unknown, _file: unknown, kind: string, { asIs }: { asIs: boolean }) => {
        calls.push(`place ${kind}${asIs ? ' as it is' : ''}`);
        return Promise.resolve({ kind, copy } as unknown as NetworkFile);
      },
    },
    incoming: {
      fetch: () => {
        calls.push('fetch');
        isStored = true;
        return Promise.resolve();
      },
    },
  };
  return { media: media as unknown as MediaTools['media'], now: () => NOW_S * 1_000 };
}

const imageOf = ({ proto: bytes }: StoredMessage) => proto.Message.decode(bytes ?? Buffer.alloc(0)).imageMessage;

describe('withRenewedFile', () => {
  it('leaves a file alone that the network still has', async () => {
    const calls: string[] = [];
    expect(imageOf(await withRenewedFile(context, tools(true, calls), stored(11)))?.directPath).toBe('/old');
    expect(calls).toEqual([]);
  });

  it('uploads an old file again and leaves everything else of the message as it was', async () => {
    const calls: string[] = [];
    const image = imageOf(await withRenewedFile(context, tools(true, calls), stored(13)));
    expect(image).toMatchObject({ directPath: '/new', caption: 'same' });
    expect(calls).toEqual(['place image']);
  });

  it('fetches the file of a received message first', async () => {
    const calls: string[] = [];
    const image = imageOf(await withRenewedFile(context, tools(false, calls), stored(13, false)));
    expect(image?.directPath).toBe('/new');
    expect(calls).toEqual(['fetch', 'place image as it is']);
  });

  it('leaves a message as it is whose file is no longer available', async () => {
    expect(imageOf(await withRenewedFile(context, tools(false), stored(13)))?.directPath).toBe('/old');
  });
});
