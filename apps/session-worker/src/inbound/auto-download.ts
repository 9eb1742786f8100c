/**
 * Files of heard messages that the channel wants at once: brought into the media store before the message is told, so
 * that it is told with a link.
 *
 * What it guarantees: a message is told whatever becomes of its file. When the file is not there in time, or cannot be
 * had, the message goes without a link and GET /media/{MediaID} fetches it later. Messages of a channel are told in order,
 * so those that follow wait as well, which is why the time is bounded. What is heard meanwhile is not lost in a crash: it
 * is in the journal until it is stored.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelSettings, Message } from '@dormouse/gateway-contract';
import type { MediaReader } from '@dormouse/media-store/read';
import type { MessageRecord } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import type { IncomingMedia } from '../media/incoming.js';
import type { OpenSession } from '../sessions/open-session.js';

export interface AutoDownloadOptions {
  incoming: Pick<IncomingMedia, 'fetch'>;
  files: Pick<MediaReader, 'file' | 'link'>;
  /** Undefined for a channel that is gone. */
  settingsOf(channelId: string): Promise<ChannelSettings | undefined>;
  /** How long messages wait for their files. */
  withinMs: number;
}

type WantedKind = ChannelSettings['media']['auto_download'][number];

/** As which kind of file a type of message counts. */
const KINDS: Partial<Record<Message['type'], WantedKind>> = {
  image: 'image',
  video: 'video',
  gif: 'video',
  short: 'video',
  audio: 'audio',
  voice: 'voice',
  document: 'document',
  sticker: 'sticker',
};

export class AutoDownload {
  constructor(private readonly options: AutoDownloadOptions) {}

  /** The records, those with wanted files with links to them. Never rejects. */
  async complete(session: OpenSession, records: readonly MessageRecord[]): Promise<MessageRecord[]> {
    const carriers = records.filter(({ message, proto: bytes }) => bytes && KINDS[message.type]);
    const settings = carriers.length > 0 ? await this.#settings(session) : undefined;
    const wanted = settings?.media.auto_download ?? [];
    return Promise.all(
      records.map(async (record) => {
        const kind = KINDS[record.message.type];
        return kind && wanted.includes(kind) ? this.#complete(session, record) : record;
      }),
    );
  }

  async #settings(session: OpenSession): Promise<ChannelSettings | undefined> {
    return this.options.settingsOf(session.channelId).catch(() => undefined);
  }

  async #complete(session: OpenSession, record: MessageRecord): Promise<MessageRecord> {
    const { message, key, proto: bytes } = record;
    const content = message[message.type];
    if (!bytes || typeof content !== 'object' || content === null || !('id' in content)) return record;
    const mediaId = String(content.id);
    const enough = new AbortController();
    try {
      const fetched = this.#fetch(session, mediaId, { key, fromMe: message.from_me, bytes });
      const link = await Promise.race([fetched, delay(this.options.withinMs, undefined, { signal: enough.signal })]);
      return link === undefined ? record : { ...record, message: { ...message, [message.type]: { ...content, link } } };
    } catch {
      return record;
    } finally {
      enough.abort();
    }
  }

  async #fetch(
    session: OpenSession,
    mediaId: string,
    { key, fromMe, bytes }: { key: MessageRecord['key']; fromMe: boolean; bytes: Uint8Array },
  ): Promise<string | undefined> {
    const { incoming, files } = this.options;
    const { channelId, socket, fileRoute } = session;
    await incoming.fetch({
      channelId,
      mediaId,
      message: {
        key: { id: key.id, remoteJid: key.remote, fromMe, ...(key.participant && { participant: key.participant }) },
        message: proto.Message.decode(bytes),
      },
      socket,
      fileRoute,
    });
    const file = await files.file(channelId, mediaId);
    return file && files.link(file);
  }
}
