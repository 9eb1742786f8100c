import { encodeExtended } from 'content-disposition';

/**
 * The Content-Disposition of a download (RFC 6266): the exact name in UTF-8 (RFC 8187), beside one in ASCII for clients
 * that know no other. Line breaks and other control characters never reach the header.
 */
export function attachmentHeader(fileName: string): string {
  const wellFormed = fileName.replace(/\p{Surrogate}/gu, '\ufffd');
  const plain = asciiName(wellFormed);
  return plain === wellFormed
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=${encodeExtended(wellFormed)}`;
}

/** What is left of a name in ASCII; letters lose their accents. `file` where no letter or digit is left. */
function asciiName(fileName: string): string {
  const [, stem = '', extension = ''] = /^(.*?)(\.[^.\s]{1,10})?$/s.exec(fileName) ?? [];
  const plainExtension = ascii(extension);
  return (/[a-z\d]/i.test(ascii(stem)) ? ascii(stem) : 'file') + (plainExtension.length > 1 ? plainExtension : '');
}

/** Also without `%`: some clients decode what looks percent-encoded. */
function ascii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]|[\\%]/g, '')
    .replaceAll('"', "'")
    .replace(/ {2,}/g, ' ')
    .trim();
}
