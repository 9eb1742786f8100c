/**
 * Replaces expired links to files. The link with which a message was stored expires long before its file does: a message
 * that is read, or an event that is delivered late or again, gets a link that works, and none where the file is gone.
 */
import type { Message } from '@dormouse/gateway-contract';
import { ObjectStorageError } from '@dormouse/object-storage';

/** Where links come from: a `MediaReader`. */
export interface LinkSource {
  /** How long links work, in seconds. */
  readonly linkTtlS: number;
  /** Links to those of the files that the channel has, by id. */
  links(channelId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** An event of any kind. */
export interface AgedEvent {
  /** JSON. */
  payload: Record<string, unknown>;
  /** How old its links are, in milliseconds. */
  ageMs: number;
}

/** A link works for at least half of its TTL when it is stored; half of that may be over when the event is delivered. */
const RENEWED_AFTER_PART_OF_TTL = 1 / 4;

export class FreshLinks {
  constructor(private readonly reader: LinkSource) {}

  /** The messages with links that work; one query to the store for all of them, none when they carry no files. */
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

  /**
   * The events with links that work for at least a quarter of the TTL. Nothing else of a payload changes: where it had
   * no link it gets none. Unchanged while no link can be signed.
   * @throws the driver's error when PostgreSQL is unreachable
   */
  async inEvents<Item extends AgedEvent>(channelId: string, events: readonly Item[]): Promise<Item[]> {
    const oldMs = this.reader.linkTtlS * 1_000 * RENEWED_AFTER_PART_OF_TTL;
    const isOld = ({ ageMs }: AgedEvent): boolean => ageMs >= oldMs;
    const ids = events.filter(isOld).flatMap(({ payload }) => linkedFiles(payload));
    if (ids.length === 0) return [...events];
    try {
      const links = await this.reader.links(channelId, [...new Set(ids)]);
      return events.map((item) => (isOld(item) ? { ...item, payload: relinkedFields(item.payload, links) } : item));
    } catch (error) {
      if (error instanceof ObjectStorageError) return [...events];
      throw error;
    }
  }
}

/** The content of a message that carries a file. */
function fileOf(message: Message): { id: string; link?: unknown } | undefined {
  const content = message[message.type];
  if (typeof content !== 'object' || content === null || !('id' in content) || !('mime_type' in content)) return;
  return typeof content.id === 'string' ? { ...content, id: content.id } : undefined;
}

/** Is this the content of a message that links to its file? */
function isLinked(value: object): value is { id: string } {
  return 'link' in value && 'mime_type' in value && 'id' in value && typeof value.id === 'string';
}

/** Ids of the files that are linked to anywhere in a payload: a message may stand in the change of one, or in a chat. */
function linkedFiles(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(linkedFiles);
  return isLinked(value) ? [value.id, ...inside] : inside;
}

function relinked(value: unknown, links: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => relinked(item, links));
  return typeof value === 'object' && value !== null ? relinkedFields(value, links) : value;
}

function relinkedFields(value: object, links: ReadonlyMap<string, string>): Record<string, unknown> {
  const link = isLinked(value) ? { present: links.get(value.id) } : undefined;
  const fields = Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    if (link && name === 'link') return link.present === undefined ? [] : [[name, link.present]];
    return [[name, relinked(field, links)]];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}
