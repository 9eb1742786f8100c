/** Files a channel can have: those that are stored, and those of heard messages that are fetched when asked for. */
import { messageIdOfMedia, type Message } from '@dormouse/gateway-contract';
import type { MediaFile, MediaReader } from '@dormouse/media-store/read';
import type { MediaUploads } from '@dormouse/media-store/uploads';
import type { MessageReader } from '@dormouse/message-store/read';
import type { SendCaller, Sends } from '../messages/sends.js';

export interface StoredFilesOptions {
  reader: Pick<MediaReader, 'file' | 'isDeleted'>;
  uploads: Pick<MediaUploads, 'delete'>;
  messages: Pick<MessageReader, 'message'>;
  sends: Pick<Sends, 'send'>;
  /** A message older than that has no file any more, fetched or not. */
  retentionMs: number;
  now?: () => number;
}

export class StoredFiles {
  constructor(private readonly options: StoredFilesOptions) {}

  /**
   * A file by its id. One of a heard message that nobody wanted so far is fetched by the worker first, unless the
   * customer deleted it.
   * @returns undefined when the channel has none with this id
   * @throws {GatewayError} when it has to be fetched and cannot be: 503 without a session, 404 when nobody has it any
   * more, 502
   */
  async obtain(caller: SendCaller, id: string): Promise<MediaFile | undefined> {
    const { reader, sends } = this.options;
    const { channel, requestId } = caller;
    const found = await reader.file(channel.id, id);
    if (found || !(await this.#comesWithMessage(channel.id, id))) return found;
    if (await reader.isDeleted(channel.id, id)) return undefined;
    await sends.send({ channel, requestId }, 'media.fetch', { mediaId: id });
    return reader.file(channel.id, id);
  }

  /** Deletes a file. One that came with a message is not fetched again. False when the channel has none with this id. */
  async remove(channelId: string, id: string): Promise<boolean> {
    const forGood = await this.#comesWithMessage(channelId, id);
    return this.options.uploads.delete(channelId, id, { forGood });
  }

  /** Whether a message that is young enough carries it, so that it can be fetched. */
  async #comesWithMessage(channelId: string, id: string): Promise<boolean> {
    const messageId = messageIdOfMedia(id);
    const message = messageId === undefined ? undefined : await this.options.messages.message(channelId, messageId);
    if (!message || !carries(message, id)) return false;
    const { retentionMs, now = Date.now } = this.options;
    return message.timestamp * 1_000 + retentionMs > now();
  }
}

function carries(message: Message, mediaId: string): boolean {
  const content = message[message.type];
  return typeof content === 'object' && content !== null && 'id' in content && content.id === mediaId;
}
