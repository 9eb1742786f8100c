import { GatewayError } from '@dormouse/gateway-contract';

/** Characters decoded at a time: bounds what is held beside the text itself. */
const SLICE = 256 * 1024;

/** How many bytes a base64 text holds at most; line breaks are counted as data, so it may be a little less. */
export function base64Bytes(text: string): number {
  return Math.floor((text.length * 3) / 4);
}

/** The text is not base64. */
export class NotBase64 extends Error {
  constructor() {
    super('not base64');
    this.name = 'NotBase64';
  }
}

/**
 * Decodes base64 of either alphabet that comes in pieces, cut anywhere. Whitespace is skipped, padding may be absent;
 * after padding only whitespace may come.
 */
export class Base64Decoder {
  /** Fewer than four characters that wait for the next piece. */
  #rest = '';
  #padding = '';

  /** @throws {NotBase64} at the first character that is not base64 */
  push(text: string): Buffer {
    const piece = text.replace(/\s+/g, '');
    const paddingAt = this.#padding === '' ? piece.indexOf('=') : 0;
    const data = paddingAt < 0 ? piece : piece.slice(0, paddingAt);
    if (paddingAt >= 0) this.#padding += piece.slice(paddingAt);
    if (/[^A-Za-z0-9+/_-]/.test(data) || !/^={0,2}$/.test(this.#padding)) throw new NotBase64();
    const whole = this.#rest + data;
    const complete = whole.length - (whole.length % 4);
    this.#rest = whole.slice(complete);
    return Buffer.from(whole.slice(0, complete), 'base64');
  }

  /**
   * The last bytes.
   * @throws {NotBase64} when the text cannot end here
   */
  end(): Buffer {
    if (this.#rest.length === 1) throw new NotBase64();
    return Buffer.from(this.#rest, 'base64');
  }
}

/**
 * Decodes base64 piece by piece, never as a whole; see {@link Base64Decoder}.
 * @throws {GatewayError} 400 naming `field`, at the first character that is not base64
 */
export function* decodeBase64(text: string, field = 'media'): Generator<Buffer> {
  const decoder = new Base64Decoder();
  try {
    for (let from = 0; from < text.length; from += SLICE) {
      const bytes = decoder.push(text.slice(from, from + SLICE));
      if (bytes.length > 0) yield bytes;
    }
    const last = decoder.end();
    if (last.length > 0) yield last;
  } catch (error) {
    if (!(error instanceof NotBase64)) throw error;
    throw notBase64(field);
  }
}

/** The refusal of a text that should be base64. */
export function notBase64(field: string): GatewayError {
  return new GatewayError(400, { details: `${field}: is not valid base64` });
}
