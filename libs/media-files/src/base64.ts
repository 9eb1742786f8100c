import { GatewayError } from '@dormouse/gateway-contract';

/** Characters decoded at a time: bounds what is held beside the text itself. */
const SLICE = 256 * 1024;

/** How many bytes a base64 text holds at most; line breaks are counted as data, so it may be a little less. */
export function base64Bytes(text: string): number {
  return Math.floor((text.length * 3) / 4);
}

/**
 * Decodes base64 of either alphabet piece by piece, never as a whole. Whitespace is skipped, padding may be absent.
 * @throws {GatewayError} 400 naming `field`, at the first character that is not base64
 */
export function* decodeBase64(text: string, field = 'media'): Generator<Buffer> {
  let rest = '';
  for (let from = 0; from < text.length; from += SLICE) {
    const piece = rest + text.slice(from, from + SLICE).replace(/\s+/g, '');
    const padding = piece.search(/=/);
    const data = padding < 0 ? piece : piece.slice(0, padding);
    if (/[^A-Za-z0-9+/_-]/.test(data)) throw notBase64(field);
    if (padding >= 0) {
      const after = piece.slice(padding) + text.slice(from + SLICE).trim();
      if (!/^={1,2}$/.test(after.replace(/\s+/g, '')) || data.length % 4 === 1) throw notBase64(field);
      yield Buffer.from(data, 'base64');
      return;
    }
    const whole = data.length - (data.length % 4);
    rest = data.slice(whole);
    if (whole > 0) yield Buffer.from(data.slice(0, whole), 'base64');
  }
  if (rest.length === 1) throw notBase64(field);
  if (rest) yield Buffer.from(rest, 'base64');
}

function notBase64(field: string): GatewayError {
  return new GatewayError(400, { details: `${field}: is not valid base64` });
}
