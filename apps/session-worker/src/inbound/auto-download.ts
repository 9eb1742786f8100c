/**
 * Files of received messages that the channel wants at once, fetched into the media store beside everything else.
 *
 * What it guarantees: a message is notified whatever becomes of its file. It waits a short while, with its chat only, so that
 * its event has a link; a file that comes later is an event that changes its message. One that cannot be had, or is
 * still on its way when the process dies, or for which the channel's storage has no room, is fetched when somebody requests
 * it (GET /media/{MediaID}). How many files are
 * under way is bounded, for a channel and for the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelSettings, Message } from '@dormouse/gateway-contract';
import { StorageFull } from '@dormouse/media-store/network';
import type { MediaReader } from '@dormouse/media-store/read';
import type { MessageRecord } from '@dormouse/message-store/write';
import { decodeMessage } from '../convert/message-bytes.js';
import { FairQueue } from '../media/fair-queue.js';
import type { IncomingMedia } from '../media/incoming.js';
import type { OpenSession } from '../socket/open-session.js';

/** 'storage_full': the channel's files take all the room that it has, so that it was not fetched. */
export type DownloadOutcome = 'fetched' | 'storage_full' | 'failed';

export interface AutoDownloadOptions {
  incoming: Pick<IncomingMedia, 'fetch'>;
  files: Pick<MediaReader, 'file' | 'link'>;
  /** Undefined for a channel that is gone. */
  settingsOf(channelId: string): Promise<ChannelSettings | undefined>;
  /** How long a message waits for its file. */
  withinMs: number;
  /** Called with what became of each file. */
  onEnded?: (outcome: DownloadOutcome, channelId: string) => void;
  /** Files under way at a time in this process, and of one channel. */
  maxParallel?: number;
  maxParallelPerChannel?: number;
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
/** Files of a channel that wait; those beyond are fetched on request. */
const MOST_WAITING_PER_CHANNEL = 100;

/** A file on its way. Neither promise rejects. */
export interface FileUnderWay {
  /** Resolves when the message need not wait for it any longer. */
  readonly waited: Promise<void>;
  /** A link to it once it is there; undefined when it cannot be had. */
  readonly link: Promise<string | undefined>;
}

export class AutoDownload {
  readonly #queue: FairQueue;
  readonly #underWay = new Map<string, number>();

  constructor(private readonly options: AutoDownloadOptions) {
    const { maxParallel = 8, maxParallelPerChannel = 2 } = options;
    this.#queue = new FairQueue({ slots: maxParallel, slotsPerOwner: maxParallelPerChannel });
  }

  /** Begins to bring the files that the channel wants. Never rejects. @returns those under way, by their record */
  async begin(session: OpenSession, records: readonly MessageRecord[]): Promise<Map<MessageRecord, FileUnderWay>> {
    const carriers = records.filter(({ message, proto: bytes }) => bytes && KINDS[message.type]);
    const settings = carriers.length > 0 ? await this.#settings(session) : undefined;
    const wanted = settings?.media.auto_download ?? [];
    const begun = new Map<MessageRecord, FileUnderWay>();
    for (const record of carriers) {
      const kind = KINDS[record.message.type];
      const underWay = kind && wanted.includes(kind) ? this.#begin(session, record) : undefined;
      if (underWay) begun.set(record, underWay);
    }
    return begun;
  }

  async #settings(session: OpenSession): Promise<ChannelSettings | undefined> {
    return this.options.settingsOf(session.channelId).catch(() => undefined);
  }

  #begin(session: OpenSession, record: MessageRecord): FileUnderWay | undefined {
    const { channelId } = session;
    const mediaId = mediaIdOf(record.message);
    const count = this.#underWay.get(channelId) ?? 0;
    if (mediaId === undefined || count >= MOST_WAITING_PER_CHANNEL) return undefined;
    this.#underWay.set(channelId, count + 1);
    const fetched = this.#queue.run(channelId, () => this.#fetch(session, mediaId, record));
    const link = fetched.then(
      (found) => this.#ended(channelId, found === undefined ? 'failed' : 'fetched', found),
      (error: unknown) => this.#ended(channelId, error instanceof StorageFull ? 'storage_full' : 'failed'),
    );
    const enough = new AbortController();
    const patience = delay(this.options.withinMs, undefined, { signal: enough.signal }).catch(() => undefined);
    const waited = Promise.race([link, patience]).then(() => enough.abort());
    return { waited, link };
  }

  #ended(channelId: string, outcome: DownloadOutcome, link?: string): string | undefined {
    const left = (this.#underWay.get(channelId) ?? 1) - 1;
    if (left > 0) this.#underWay.set(channelId, left);
    else this.#underWay.delete(channelId);
    this.options.onEnded?.(outcome, channelId);
    return link;
  }

  async #fetch(
    session: OpenSession,
    mediaId: string,
    { key, message, proto: bytes }: MessageRecord,
  ): Promise<string | undefined> {
    const { incoming, files } = this.options;
    const { channelId, network, fileRoute } = session;
    const { id, remote: remoteJid, participant } = key;
    await incoming.fetch({
      channelId,
      mediaId,
      message: {
        key: { id, remoteJid, fromMe: message.from_me, ...(participant && { participant }) },
        message: bytes ? decodeMessage(bytes) : undefined,
      },
      network,
      fileRoute,
    });
    const file = await files.file(channelId, mediaId);
    return file && files.link(file);
  }
}

/** The id of the file that a message carries. */
export function mediaIdOf(message: Message): string | undefined {
  const content = message[message.type];
  return typeof content === 'object' && content !== null && 'id' in content ? String(content.id) : undefined;
}

/** The message with a link to its file; undefined when it is not that message any more, or was deleted. */
export function linked(message: Message, mediaId: string | undefined, link: string): Message | undefined {
  const content = message[message.type];
  if (mediaId === undefined || message.status === 'deleted' || mediaIdOf(message) !== mediaId) return undefined;
  return typeof content === 'object' ? { ...message, [message.type]: { ...content, link } } : undefined;
}
