/** The text of a web page, in any encoding (WHATWG HTML, "determining the character encoding"). Pure. */

/** How far browsers look for the page's own declaration of its encoding. */
const DECLARATION_BYTES = 4_096;
/** Encoding of pages that declare none, unless they are UTF-8. */
const FALLBACK_ENCODING = 'windows-1252';

const BYTE_ORDER_MARKS: readonly [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['feff', 'utf-16be'],
  ['fffe', 'utf-16le'],
];

/**
 * Decodes a page by its byte order mark, its content type header or its own declaration, in this order. Without any of
 * them it is UTF-8 if it is valid as such, else Western text.
 * @param contentType the header, e.g. `text/html; charset=windows-1251`
 */
export function pageText(page: Uint8Array, contentType: string): string {
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const decoder = decoderOf(byteOrderMark(bytes)) ?? decoderOf(charsetOf(contentType)) ?? decoderOf(declared(bytes));
  if (decoder) return decoder.decode(bytes);
  try {
    // The end may be cut off inside a character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder(FALLBACK_ENCODING).decode(bytes);
  }
}

/** Undefined for an unknown encoding. */
function decoderOf(encoding: string | undefined) {
  if (encoding === undefined) return undefined;
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}

function byteOrderMark(bytes: Buffer): string | undefined {
  const start = bytes.toString('hex', 0, 3);
  return BYTE_ORDER_MARKS.find(([mark]) => start.startsWith(mark))?.[1];
}

function charsetOf(text: string): string | undefined {
  return /\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1];
}

/** The encoding that the page declares in a `<meta>` or in its XML declaration. */
function declared(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, DECLARATION_BYTES);
  const inXml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1];
  const metas = start.replaceAll(/<!--.*?-->/gs, '').match(/<meta\b[^>]*>/gi) ?? [];
  const named = inXml ?? metas.map(charsetOf).find((charset) => charset !== undefined);
  // A declaration that can be read as ASCII is not in UTF-16, even if it names it.
  return named && /^utf-?16/i.test(named) ? 'utf-8' : named;
}

/**
 * The beginning of a text, cut between what readers see as characters.
 * @param maxUnits UTF-16 code units
 */
export function shortened(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const start = text.slice(0, maxUnits + 1);
  let end = 0;
  for (const { index } of new Intl.Segmenter().segment(start)) if (index <= maxUnits) end = index;
  return start.slice(0, end);
}
