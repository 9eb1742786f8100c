import { GatewayError } from '@dormouse/gateway-contract';

/** Matches every media id, uploaded (`png-<32 hex>-<14 hex>`) or of a message. */
export const MEDIA_ID_PATTERN = /^[A-Za-z0-9]+-[0-9A-Fa-f-]+$/;

/** In which of the four forms a `media` text gives a file. */
export type MediaInput =
  | { form: 'url'; url: URL }
  | { form: 'id'; id: string }
  | { form: 'base64'; base64: string; mimeType?: string; fileName?: string };

const DATA_URI_HEAD = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w-]+=(?:"[^"]*"|[^;,]*))*);base64,/i;
/** Either alphabet, padded or not, broken into lines or not. */
const BASE64_START = /^[A-Za-z0-9+/_\-\s]{8,}/;
/** What is looked at to tell base64 from other text; the decoder checks the rest. */
const PROBE_LENGTH = 256;

function refuse(field: string, reason: string): GatewayError {
  return new GatewayError(400, { details: `${field}: ${reason}` });
}

function readDataUri(text: string, field: string): MediaInput {
  const head = DATA_URI_HEAD.exec(text.slice(0, 4_096));
  if (!head) throw refuse(field, 'a data: URI must look like data:<mime type>[;name=<file>];base64,<data>');
  const name = /;(?:file)?name=("[^"]*"|[^;,]*)/i.exec(head[2] ?? '')?.[1]?.replace(/^"|"$/g, '');
  return {
    form: 'base64',
    base64: text.slice(head[0].length),
    ...(head[1] && { mimeType: head[1].toLowerCase() }),
    ...(name && { fileName: decodePercent(name) }),
  };
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Reads the text of a `media` (or `icon`) field. The forms are tried in this order: http(s) URL, `data:` URI, media
 * id, base64.
 * @throws {GatewayError} 400 naming `field` when it is none of them
 */
export function readMediaInput(text: string, field = 'media'): MediaInput {
  const start = text.slice(0, PROBE_LENGTH);
  if (/^https?:\/\//i.test(start)) {
    if (!URL.canParse(text)) throw refuse(field, 'is not a valid URL');
    return { form: 'url', url: new URL(text) };
  }
  if (/^data:/i.test(start)) return readDataUri(text, field);
  if (text.length < PROBE_LENGTH && MEDIA_ID_PATTERN.test(text)) return { form: 'id', id: text };
  if (BASE64_START.test(start) && !/[^A-Za-z0-9+/_\-\s=]/.test(start)) return { form: 'base64', base64: text };
  throw refuse(field, 'must be a URL, a data: URI, a media id or base64');
}
