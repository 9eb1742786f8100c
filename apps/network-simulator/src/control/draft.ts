import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { Refusal } from '../network/refusal.js';
import type { Draft, FileDraft } from '../phones/compose.js';
import { decodeContent, encodeContent } from '../phones/content.js';
import { dressingFields } from '../phones/dressing.js';
import { kindFields } from '../phones/kinds/catalogue.js';

const MAX_FILE_BYTES = 100 * 1024 * 1024;

const file = z
  .object({
    /** The bytes themselves, or the address to fetch them from. */
    base64: z.string().optional(),
    url: z.url().optional(),
    mimetype: z.string().optional(),
    fileName: z.string().optional(),
    seconds: z.number().optional(),
    width: z.number().int().optional(),
    height: z.number().int().optional(),
  })
  .refine(({ base64, url }) => (base64 === undefined) !== (url === undefined), 'give either base64 or url');

/** What can be sent as a phone. */
export const draftBody = z.object({
  to: z.string().min(1),
  id: z.string().min(1).optional(),
  text: z.string().optional(),
  image: file.optional(),
  video: file.optional(),
  audio: file.optional(),
  voice: file.optional(),
  document: file.optional(),
  sticker: file.optional(),
  location: z
    .object({
      latitude: z.number(),
      longitude: z.number(),
      name: z.string().optional(),
      address: z.string().optional(),
    })
    .optional(),
  contact: z.object({ name: z.string(), phone: z.string().optional(), vcard: z.string().optional() }).optional(),
  reaction: z.object({ id: z.string(), emoji: z.string() }).optional(),
  edit: z.object({ id: z.string(), text: z.string() }).optional(),
  delete: z.object({ id: z.string() }).optional(),
  forward: z.object({ id: z.string() }).optional(),
  preview: z.object({ url: z.string(), title: z.string().optional(), description: z.string().optional() }).optional(),
  caption: z.string().optional(),
  quote: z.string().optional(),
  mentions: z.array(z.string()).optional(),
  viewOnce: z
    .union([z.boolean(), z.enum(['v2', 'v2-extension'])])
    .optional()
    .describe('Can be opened once; which wrapper.'),
  protobuf: z.base64().optional().describe('A whole message as protobuf, for what has no name here.'),
  message: z.record(z.string(), z.unknown()).optional().describe('The same as JSON, bytes as base64.'),
  ...dressingFields,
  ...kindFields,
});

type DraftBody = z.infer<typeof draftBody>;
const FILES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;

/** The draft with its file's bytes at hand. Throws {@link Refusal} 422 when they cannot be fetched. */
export async function draftFrom(body: DraftBody): Promise<Draft> {
  const { to: _to, id: _id, image, video, audio, voice, document, sticker, protobuf, message, ...rest } = body;
  const given = { image, video, audio, voice, document, sticker };
  const draft: Draft = { ...rest };
  if (protobuf !== undefined) draft.protobuf = readable('protobuf', () => Buffer.from(protobuf, 'base64'));
  else if (message) draft.protobuf = readable('message', () => encodeContent(proto.Message.fromObject(message)));
  for (const kind of FILES) {
    const described = given[kind];
    if (described) draft[kind] = await fileDraft(described);
  }
  return draft;
}

/** The bytes of a message. Throws {@link Refusal} 400 when they are none. */
function readable(field: string, make: () => Buffer): Buffer {
  try {
    const bytes = make();
    decodeContent(bytes);
    return bytes;
  } catch (error) {
    throw new Refusal(
      400,
      `${field}: is no message of the protocol: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function fileDraft(described: z.infer<typeof file>): Promise<FileDraft> {
  const { base64, url, ...rest } = described;
  if (base64 !== undefined) return { ...rest, bytes: Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64') };
  const response = await fetch(url ?? '').catch((error: unknown) => {
    throw new Refusal(422, `The file cannot be fetched: ${String(error)}`);
  });
  if (!response.ok) throw new Refusal(422, `The file cannot be fetched: status ${response.status}.`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length > MAX_FILE_BYTES) throw new Refusal(422, 'The file is too large.');
  return { ...rest, bytes, mimetype: rest.mimetype ?? response.headers.get('content-type') ?? undefined };
}
