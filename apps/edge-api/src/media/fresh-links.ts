/**
 * Links to files in messages that are read. The link a message was stored with expires long before its file does, so
 * every read answers one that works, and none where the file is gone.
 */
import type { Message } from '@dormouse/gateway-contract';
import type { MediaReader } from '@dormouse/media-store/read';

export class FreshLinks {
  constructor(private readonly reader: Pick<MediaReader, 'links'>) {}

  /** The messages with links that work; one question to the store for all of them, none when they carry no files. */
  async in(channelId: string, messages: readonly Message[]): Promise<Message[]> {
    const ids = messages.flatMap((message) => fileOf(message)?.id ?? []);
    if (ids.length === 0) return [...messages];
    const links = await this.reader.links(channelId, ids);
    return messages.map((message) => {
      const file = fileOf(message);
      if (!file) return message;
      const { link: _expiring, ...content } = file;
      const link = links.get(file.id);
      return { ...message, [message.type]: { ...content, ...(link !== undefined && { link }) } };
    });
  }

  /** One message, likewise. */
  async inOne(channelId: string, message: Message): Promise<Message> {
    const [fresh = message] = await this.in(channelId, [message]);
    return fresh;
  }
}

/** The content of a message that carries a file. */
function fileOf(message: Message): { id: string; link?: unknown } | undefined {
  const content = message[message.type];
  if (typeof content !== 'object' || content === null || !('id' in content) || !('mime_type' in content)) return;
  return typeof content.id === 'string' ? { ...content, id: content.id } : undefined;
}
