import type { Caller } from '../access/current-channel.js';
/** Files of a channel: those that are stored, and those of received messages, which are fetched on their first request. */
import { messageIdOfMedia, type Message } from '@dormouse/gateway-contract';
import type { MediaFile, MediaReader } from '@dormouse/media-store/read';
import type { MediaUploads } from '@dormouse/media-store/uploads';
import type { MessageReader } from '@dormouse/message-store/read';
import type { ChannelCommands } from '../messages/channel-commands.js';

export interface StoredFilesOptions {
  reader: Pick<MediaReader, 'file' | 'isDeleted'>;
  uploads: Pick<MediaUploads, 'delete'>;
  messages: Pick<MessageReader, 'message'>;
  commands: Pick<ChannelCommands, 'callWithoutKey'>;
  /** How long after a message its file is available, in milliseconds. */
  retentionMs: number;
  now?: () => number;
}

export class StoredFiles {
  constructor(private readonly options: StoredFilesOptions) {}

  /**
   * A file by its id. A received message's file that is not stored yet is fetched by the worker first, unless the
   * customer deleted it.
   * @returns undefined when the channel has none with this id
   * @throws {GatewayError} when it has to be fetched and cannot be: 503 without a session, 404 when the network does not
   * have it any more, else 502
   */
  async obtain(caller: Caller, id: string): Promise<MediaFile | undefined> {
    const { reader, commands } = this.options;
    const { channel } = caller;
    const found = await reader.file(channel.id, id);
    if (found || !(await this.#comesWithMessage(channel.id, id))) return found;
    if (await reader.isDeleted(channel.id, id)) return undefined;
    await commands.callWithoutKey(caller, 'media.fetch', { mediaId: id });
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
