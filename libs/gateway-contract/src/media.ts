import { z } from 'zod';
import { GatewayError } from './errors.js';
import { flag, text, textUpTo } from './fields.js';
import { pageQuery, queryTime, type Page } from './queries.js';

/** Kinds of media a message can carry. */
export const MEDIA_KINDS = ['image', 'audio', 'voice', 'video', 'document', 'sticker'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Ids of media; those of uploads are `<extension>-<32 hex>-<14 hex>`. */
export const MEDIA_ID_PATTERN = /^(?:media_init|[A-Za-z0-9]{1,16}-[0-9A-Fa-f-]{1,160})$/;

/** Days an upload is kept. */
export const MEDIA_RETENTION_DAYS = 30;

const MIB = 1024 * 1024;

/** How large files and bodies may be, in bytes. `icon` is a profile picture, `body` a JSON body with base64 inside. */
export const DEFAULT_SIZE_LIMITS_BYTES = {
  image: 16 * MIB,
  video: 100 * MIB,
  audio: 16 * MIB,
  voice: 16 * MIB,
  document: 100 * MIB,
  sticker: 1 * MIB,
  icon: 5 * MIB,
  body: 148 * MIB,
} as const;
export type SizeLimitName = keyof typeof DEFAULT_SIZE_LIMITS_BYTES;
export type SizeLimits = Readonly<Record<SizeLimitName, number>>;

/** The limit that holds for an upload of this type. */
export function sizeLimitName(mimeType: string): SizeLimitName {
  const family = mimeType.slice(0, mimeType.indexOf('/')).toLowerCase();
  return family === 'image' || family === 'video' || family === 'audio' ? family : 'document';
}

/** The refusal of something too large: 413 whose details tell the kind and the limit. */
export function tooLarge(name: SizeLimitName, limits: SizeLimits = DEFAULT_SIZE_LIMITS_BYTES): GatewayError {
  return new GatewayError(413, { details: `${name}: larger than ${limits[name]} bytes` });
}

/**
 * A file of a multipart form whose bytes the reader of the form has set aside. Being a class, it cannot be forged in a
 * JSON body.
 */
export class FilePart {
  readonly form = 'file';

  constructor(
    /** Name of the form's field. */
    readonly field: string,
    /** Where the bytes are: the reader's own handle. */
    readonly handle: string,
    /** As the customer wrote them; neither is to be trusted. */
    readonly claimed: { fileName?: string; mimeType?: string } = {},
  ) {}
}

/** What can stand in `media` (and `icon`), told apart. The text of base64 is not decoded. */
export type MediaInput =
  | { form: 'url'; url: string }
  /** `mimeType` keeps its parameters (`audio/ogg; codecs=opus`). */
  | { form: 'data-uri'; mimeType: string; fileName?: string; base64: string }
  | { form: 'id'; id: string }
  | { form: 'base64'; base64: string }
  | FilePart;

/**
 * Tells the forms of media apart, in this order: http(s) URL, data: URI, media id, base64. Linear in the length of the
 * text: no pattern that can backtrack ever sees more than a header, because the text may have a hundred megabytes.
 * @returns undefined when it is none of them
 */
export function readMediaInput(value: string | FilePart): MediaInput | undefined {
  if (value instanceof FilePart) return value;
  const start = value.slice(0, 8).toLowerCase();
  if (start.startsWith('http://') || start.startsWith('https://')) {
    return value.length <= 8_192 && URL.canParse(value) ? { form: 'url', url: value } : undefined;
  }
  if (start.startsWith('data:')) return readDataUri(value);
  if (value.length <= 180 && MEDIA_ID_PATTERN.test(value)) return { form: 'id', id: value };
  return value.length >= 8 && isBase64(value) ? { form: 'base64', base64: value } : undefined;
}

function readDataUri(uri: string): MediaInput | undefined {
  const comma = uri.slice(0, 1_024).indexOf(',');
  if (comma === -1) return undefined;
  const [type, ...parameters] = uri
    .slice('data:'.length, comma)
    .split(';')
    .map((part) => part.trim());
  const base64 = uri.slice(comma + 1);
  if (parameters.pop()?.toLowerCase() !== 'base64' || !type || !/^[\w.+-]+\/[\w.+-]+$/.test(type)) return undefined;
  if (base64.length === 0 || !isBase64(base64)) return undefined;
  const name = parameters.find((part) => part.startsWith('name='));
  const fileName = name && fileBaseName(percentDecoded(name.slice('name='.length)));
  const mimeType = [type.toLowerCase(), ...parameters.filter((part) => part !== name)].join('; ');
  return { form: 'data-uri', mimeType, ...(fileName ? { fileName } : {}), base64 };
}

function isBase64(value: string): boolean {
  if (/[^A-Za-z0-9+/=\s]/.test(value)) return false;
  const padding = value.indexOf('=');
  return padding === -1 || (value.length - padding <= 8 && /^(=\s*){1,2}$/.test(value.slice(padding)));
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The last part of a file name that may be a path (`./files/a.jpg`), without control characters; '' when none is left. */
export function fileBaseName(fileName: string): string {
  const last = fileName.slice(-1_024).split(/[/\\]/).at(-1) ?? '';
  return last.replace(/\p{Cc}/gu, '').trim();
}

const isTextOrFile = (value: unknown): value is string | FilePart =>
  typeof value === 'string' || value instanceof FilePart;

const mediaField = (forms: readonly MediaInput['form'][], reason: string) =>
  z.custom<string | FilePart>(isTextOrFile, 'must be text').transform((value, context): MediaInput => {
    const media = readMediaInput(value);
    if (media && forms.includes(media.form)) return media;
    context.addIssue({ code: 'custom', message: reason });
    return z.NEVER;
  });

/** Media of a send, and the icon of a profile: every form. */
export const anyMedia = mediaField(
  ['url', 'data-uri', 'id', 'base64', 'file'],
  'must be an http(s) URL, a data: URI, a media id or base64',
);

/** Media of an upload: everything but the id of an upload. */
export const newMedia = mediaField(
  ['url', 'data-uri', 'base64', 'file'],
  'must be an http(s) URL, a data: URI or base64',
);

/** A file name as customers write it; the parsed value is its base name. */
export const fileNameField = text.transform(fileBaseName);

/** What accompanies media wherever it is accepted. */
export const mediaOptions = {
  /** Type of bare base64; for all other forms a hint, because types are found by content. */
  mime_type: textUpTo(255).optional(),
  /** Send the bytes as they are. */
  no_encode: flag.optional(),
  /** Download the URL again even if its bytes are known. */
  no_cache: flag.optional(),
} as const;

/** Media as it travels in a command: where its bytes are, never the bytes. */
export const storedMedia = z.object({
  /** Key of the bytes in the region's object store. */
  objectKey: z.string().min(1),
  /** Found by content. */
  mimeType: z.string().min(1),
  sizeBytes: z.int().min(0),
  /** SHA-256 of the bytes, base64. */
  sha256: z.string().min(1),
  fileName: z.string().optional(),
  /** The upload the customer named: the sent message shows this id. */
  mediaId: z.string().regex(MEDIA_ID_PATTERN).optional(),
});
export type StoredMedia = z.output<typeof storedMedia>;

/** JSON body, and form, of POST /media. */
export const uploadMediaBody = z.object({ media: newMedia, filename: fileNameField.optional(), ...mediaOptions });
export type UploadMediaBody = z.output<typeof uploadMediaBody>;

/** Query of GET /media. */
export const listMediaQuery = pageQuery.extend({
  time_from: queryTime.optional(),
  time_to: queryTime.optional(),
  sort: z.enum(['asc', 'desc']).default('desc'),
});
export type ListMediaQuery = z.output<typeof listMediaQuery>;

/** A file as customers see it. */
export interface MediaFile {
  id: string;
  mime_type: string;
  /** Bytes. */
  file_size: number;
  file_name?: string;
  /** SHA-256 of the bytes, base64. */
  sha256?: string;
  /** A URL that works without a token, for a while. */
  link?: string;
  /** Epoch seconds. */
  timestamp?: number;
}

/** A file of GET /media: when it was uploaded is always known. */
export interface MediaFileListed extends MediaFile {
  timestamp: number;
}

export interface MediaFilesList extends Page {
  files: MediaFileListed[];
}

/** Answer of POST /media; `id` repeats the only entry. */
export interface UploadMediaResult {
  media: [{ id: string }];
  id: string;
}
