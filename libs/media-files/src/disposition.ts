/** The name in a Content-Disposition header (RFC 6266), as servers and clients really write it. */
import { parse } from 'content-disposition';

/**
 * The file name of a header; not made safe. Names with blanks need no quotes, and plain ones may be UTF-8, which Node
 * reads as latin1.
 * @returns undefined when the header has none
 */
export function dispositionName(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { parameters } = parse(header);
  const { filename } = parameters;
  if (!filename) return undefined;
  return parameters['filename*'] === undefined ? utf8OfLatin1(filename) : filename;
}

function utf8OfLatin1(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}
