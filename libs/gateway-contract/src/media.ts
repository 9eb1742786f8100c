import { z } from 'zod';
import { GatewayError } from './errors.js';
import { flag, text, writtenTextUpTo } from './fields.js';
import { readMimeType, usableMimeType } from './mime-type.js';
import { pageQuery, queryTime, type Page } from './queries.js';

/** What a file is used as; each has its own size limit. `icon` is a profile picture. */
export const MEDIA_KINDS = ['image', 'video', 'audio', 'voice', 'document', 'sticker', 'icon'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Ids of media, of uploads and of files in messages. */
export const MEDIA_ID_PATTERN = /^(?:media_init|[A-Za-z0-9]{1,16}-[0-9A-Fa-f-]{1,160})$/;

/** The largest file of each kind, in bytes. */
export type MediaLimits = Readonly<Record<MediaKind, number>>;

const MIB = 1024 * 1024;

export const DEFAULT_MEDIA_LIMITS: MediaLimits = {
  image: 16 * MIB,
  video: 100 * MIB,
  audio: 16 * MIB,
  voice: 16 * MIB,
  document: 100 * MIB,
  sticker: 1 * MIB,
  icon: 5 * MIB,
};

/** The largest JSON body, in bytes: room for the largest file as base64. */
export const DEFAULT_MAX_JSON_BYTES = 148 * MIB;

/** The kind whose size limit applies to an upload, which does not name its use: by the type of its content. */
export function kindOfUpload(mimeType: string): MediaKind {
  const family = mimeType.slice(0, mimeType.indexOf('/')).toLowerCase();
  return family === 'image' || family === 'video' || family === 'audio' ? family : 'document';
}

/** The refusal of a file beyond its kind's limit: 413 whose details name both. */
export function fileTooLarge(kind: MediaKind, limits: MediaLimits): GatewayError {
  return new GatewayError(413, { details: `${kind}: larger than ${limits[kind]} bytes` });
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

/** A parsed value of `media` (or `icon`). Base64 is not decoded, and names are as they were given. */
export type MediaInput =
  | { form: 'url'; url: URL }
  | { form: 'id'; id: string }
  /** Of a data: URI: `mimeType` keeps its parameters (`audio/ogg; codecs=opus`). */
  | { form: 'base64'; base64: string; mimeType?: string; fileName?: string }
  | FilePart;

/**
 * Recognizes the form of media, in this order: http(s) URL, data: URI, media id, base64. Takes linear time, because the
 * text may have a hundred megabytes: no pattern that can backtrack is applied to more than a header.
 * @returns undefined when it is none of them
 */
export function readMediaInput(value: string | FilePart): MediaInput | undefined {
  if (value instanceof FilePart) return value;
  const start = value.slice(0, 8).toLowerCase();
  if (start.startsWith('http://') || start.startsWith('https://')) {
    return value.length <= 8_192 && URL.canParse(value) ? { form: 'url', url: new URL(value) } : undefined;
  }
  if (start.startsWith('data:')) return readDataUri(value);
  if (value.length <= 180 && MEDIA_ID_PATTERN.test(value)) return { form: 'id', id: value };
  return value.length >= 8 && isBase64(value) ? { form: 'base64', base64: value } : undefined;
}

/** What stands before the base64 of a data: URI. */
export interface DataUriHeader {
  mimeType: string;
  fileName?: string;
  /** Where the base64 begins. */
  dataAt: number;
}

/** As much of a data: URI as may stand before its bytes. */
export const MAX_DATA_URI_HEADER = 2_048;

/**
 * The header of a data: URI; its first `MAX_DATA_URI_HEADER` characters are enough.
 * @returns undefined when the text does not begin as a data: URI of base64 with a type
 */
export function readDataUriHeader(uri: string): DataUriHeader | undefined {
  const comma = uri.slice(0, MAX_DATA_URI_HEADER).indexOf(',');
  if (comma === -1 || !/^data:/i.test(uri)) return undefined;
  const [type, ...parameters] = uri
    .slice('data:'.length, comma)
    .split(';')
    .map((part) => part.trim());
  if (parameters.pop()?.toLowerCase() !== 'base64') return undefined;
  const isName = (parameter: string) => /^(?:file)?name=/i.test(parameter);
  const name = parameters.find(isName);
  const fileName = name && percentDecoded(name.slice(name.indexOf('=') + 1).replace(/^"(.*)"$/, '$1'));
  const mimeType = usableMimeType([type, ...parameters.filter((parameter) => !isName(parameter))].join(';'));
  return mimeType === undefined ? undefined : { mimeType, dataAt: comma + 1, ...(fileName ? { fileName } : {}) };
}

function readDataUri(uri: string): MediaInput | undefined {
  const header = readDataUriHeader(uri);
  if (!header) return undefined;
  const { dataAt, ...claims } = header;
  const base64 = uri.slice(dataAt);
  return base64.length > 0 && isBase64(base64) ? { form: 'base64', base64, ...claims } : undefined;
}

function isBase64(value: string): boolean {
  // Either alphabet.
  if (/[^A-Za-z0-9+/_\-=\s]/.test(value)) return false;
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

const isTextOrFile = (value: unknown): value is string | FilePart =>
  typeof value === 'string' || value instanceof FilePart;

/** Media of a send, and the icon of a profile: every form. */
export const anyMedia = z.custom<string | FilePart>(isTextOrFile, 'must be text').transform((value, context) => {
  const media = readMediaInput(value);
  if (media) return media;
  context.addIssue('must be an http(s) URL, a data: URI, a media id or base64');
  return z.NEVER;
});

/** Media of an upload: everything but the id of an upload. */
export const newMedia = z.custom<string | FilePart>(isTextOrFile, 'must be text').transform((value, context) => {
  const media = readMediaInput(value);
  if (media && media.form !== 'id') return media;
  context.addIssue('must be an http(s) URL, a data: URI or base64');
  return z.NEVER;
});

/** Media as it travels in a command: the id of a file that is in the media store by then, never the bytes. */
export const mediaIdField = text.regex(MEDIA_ID_PATTERN, 'not a media id');

/** A name as it was given; who keeps the file makes it safe. */
export const fileNameField = writtenTextUpTo(1_024);

const mimeTypeField = text.transform((value, context) => {
  const type = value === '' ? undefined : readMimeType(value);
  if (value !== '' && type === undefined) context.addIssue('must be a media type such as image/png');
  return type;
});

/** What accompanies media wherever it is accepted. */
export const mediaOptions = {
  mime_type: mimeTypeField
    .optional()
    .describe('Type of bare base64; for all other forms a hint, because types are found by content.'),
  no_encode: flag.optional().describe('Send the bytes as they are.'),
  no_cache: flag.optional().describe('Download the URL again even if its bytes are known.'),
} as const;

/** JSON body, and form, of POST /media. */
export const uploadMediaBody = z.object({
  media: newMedia.describe('The file: an http(s) URL, a data: URI, or base64.'),
  filename: fileNameField.optional(),
  ...mediaOptions,
});
export type UploadMediaBody = z.output<typeof uploadMediaBody>;

/** Query of GET /media. */
export const listMediaQuery = pageQuery.extend({
  time_from: queryTime.optional().describe('Epoch seconds.'),
  time_to: queryTime.optional().describe('Epoch seconds.'),
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
