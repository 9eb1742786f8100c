/** The text of a web page, whichever encoding it is in (WHATWG HTML, "determining the character encoding"). Pure. */

/** Browsers look for the page's own statement at its beginning. */
const STATEMENT_BYTES = 4_096;
/** What pages without any statement are in, unless they are UTF-8. */
const USUAL_BEFORE_UTF8 = 'windows-1252';

const BYTE_ORDER_MARKS: readonly [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['feff', 'utf-16be'],
  ['fffe', 'utf-16le'],
];

/**
 * Decodes a page: by its byte order mark, the header it came with, its own statement, in this order; without any as
 * UTF-8 where it is that, else as Western text.
 * @param contentType the header, e.g. `text/html; charset=windows-1251`
 */
export function pageText(page: Uint8Array, contentType: string): string {
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const decoder = decoderOf(marked(bytes)) ?? decoderOf(charsetOf(contentType)) ?? decoderOf(stated(bytes));
  if (decoder) return decoder.decode(bytes);
  try {
    // The end may be cut off inside a character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder(USUAL_BEFORE_UTF8).decode(bytes);
  }
}

/** Undefined for an encoding that nobody knows. */
function decoderOf(encoding: string | undefined) {
  if (encoding === undefined) return undefined;
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}

function marked(bytes: Buffer): string | undefined {
  const start = bytes.toString('hex', 0, 3);
  return BYTE_ORDER_MARKS.find(([mark]) => start.startsWith(mark))?.[1];
}

function charsetOf(text: string): string | undefined {
  return /\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1];
}

/** What the page says in a `<meta>` or in its XML declaration. */
function stated(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, STATEMENT_BYTES);
  const inXml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1];
  const metas = start.replaceAll(/<!--.*?-->/gs, '').match(/<meta\b[^>]*>/gi) ?? [];
  const named = inXml ?? metas.map(charsetOf).find((charset) => charset !== undefined);
  // A statement that could be read as ASCII is not in UTF-16, whatever it says.
  return named && /^utf-?16/i.test(named) ? 'utf-8' : named;
}

/** The beginning of a text, cut between what readers see as characters. */
export function shortened(text: string, mostUnits: number): string {
  if (text.length <= mostUnits) return text;
  const start = text.slice(0, mostUnits + 1);
  let end = 0;
  for (const { index } of new Intl.Segmenter().segment(start)) if (index <= mostUnits) end = index;
  return start.slice(0, end);
}
