/**
 * Reads a JSON body as it arrives, with bounds: on the bytes held in memory, on the number of its values and on their
 * depth. The number matters because an empty object takes three bytes on the wire and a hundred in memory, and
 * JSON.parse creates all of them at once. A long text of one named field, where clients put files as base64, is never
 * held: it is passed to a reader in pieces, and a short text is put in its place.
 *
 * This code only scans the bytes; JSON.parse reads what is held, so that the rules of JSON text (duplicate keys,
 * numbers, `__proto__`, bytes that are no UTF-8) are those of JSON.parse.
 */
import { GatewayError, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '@dormouse/gateway-contract';
import { GrowingBytes } from './growing-bytes.js';
import { JsonText } from './json-text.js';

/** A text of the named field beyond this many bytes goes to its reader. Longer than a URL or the header of a data: URI. */
export const LONG_TEXT_BYTES = 64 * 1024;

export interface JsonLimits {
  /** Of the whole body. */
  maxBytes: number;
  /** Called with the total number of bytes about to be held in memory; throws to reject the body. */
  keep: (bytes: number) => void;
  /** The error for a body beyond `maxBytes`. */
  refusal: () => GatewayError;
}

/** The reader of the long text of a field. */
export interface LongTextField {
  /** A field of the outermost object. */
  name: string;
  /**
   * Reads the text, to its end unless it throws. The first piece has `LONG_TEXT_BYTES` of it.
   * @returns the short text to put in its place
   */
  take(text: AsyncIterable<string>): Promise<string>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * @returns undefined for a body without anything in it
 * @throws {GatewayError} 400 for invalid JSON and for too many values or levels; what `limits` throw
 */
export async function readJson(
  chunks: AsyncIterable<Buffer>,
  limits: JsonLimits,
  longText?: LongTextField,
): Promise<unknown> {
  const text = await new JsonReader(chunks[Symbol.asyncIterator](), limits, longText).read();
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
}

function notJson(cause?: unknown): GatewayError {
  return new GatewayError(400, { details: 'body: not valid JSON' }, { cause });
}

class JsonReader {
  readonly #kept = new GrowingBytes();
  #chunk: Buffer = Buffer.alloc(0);
  /** The next byte of the chunk to look at. */
  #at = 0;
  #arrivedBytes = 0;
  #values = 0;
  #depth = 0;
  #rootIsObject = false;
  /** The string that is being read began here in `#kept`, with its quote. */
  #stringFrom: number | undefined;
  #escaped = false;
  /** Does a string of the outermost object stand where a key stands? */
  #keyExpected = false;
  /** The key that the value to come belongs to, in the outermost object. */
  #key: string | undefined;

  constructor(
    private readonly chunks: AsyncIterator<Buffer>,
    private readonly limits: JsonLimits,
    private readonly longText: LongTextField | undefined,
  ) {}

  async read(): Promise<string> {
    while (await this.#next()) {
      this.#look();
      if (this.longText && this.#isLongText()) await this.#handOn(this.longText);
    }
    return this.#kept.text();
  }

  async #next(): Promise<boolean> {
    // After a long text, the rest of its last chunk is still to be scanned.
    if (this.#at < this.#chunk.length) return true;
    const next = await this.chunks.next();
    if (next.done) return false;
    this.#arrivedBytes += next.value.length;
    if (this.#arrivedBytes > this.limits.maxBytes) throw this.limits.refusal();
    this.#chunk = next.value;
    this.#at = 0;
    return true;
  }

  /** Looks at the rest of the chunk and keeps it. */
  #look(): void {
    const chunk = this.#chunk;
    const from = this.#at;
    const before = this.#kept.length;
    this.limits.keep(before + chunk.length - from);
    this.#kept.append(from === 0 ? chunk : chunk.subarray(from));
    for (let at = from; at < chunk.length; at++) {
      if (this.#stringFrom !== undefined) {
        at = this.#endOfString(at);
        if (at < chunk.length) this.#endString(before + at - from + 1);
      } else {
        this.#structure(chunk[at], before + at - from);
      }
    }
    this.#at = chunk.length;
  }

  /** Where the string that is being read ends: at its quote, or at the end of the chunk. */
  #endOfString(from: number): number {
    const chunk = this.#chunk;
    let at = from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) break;
    }
    return at;
  }

  /** @param until where the string ends in what is kept, behind its quote */
  #endString(until: number): void {
    if (this.#keyExpected) this.#key = this.#keyIn(this.#stringFrom ?? 0, until);
    this.#keyExpected = false;
    this.#stringFrom = undefined;
  }

  #keyIn(from: number, until: number): string | undefined {
    if (!this.longText || until - from > 256) return undefined;
    try {
      return JSON.parse(this.#kept.text(from, until)) as string;
    } catch {
      return undefined;
    }
  }

  #structure(byte: number | undefined, keptAt: number): void {
    switch (byte) {
      case QUOTE:
        this.#stringFrom = keptAt;
        return;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (this.#depth === 0) this.#rootIsObject = byte === OPEN_OBJECT;
        if (++this.#depth > MAX_JSON_DEPTH) {
          throw new GatewayError(400, { details: `body: nested deeper than ${MAX_JSON_DEPTH} levels` });
        }
        return this.#oneMore();
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#depth -= 1;
        return;
      case COMMA:
        return this.#oneMore();
      case COLON:
        this.#keyExpected = false;
        return;
      default:
    }
  }

  /** A member begins; and a container with it, or without it. */
  #oneMore(): void {
    this.#values += 1;
    if (this.#values > MAX_JSON_VALUES) {
      throw new GatewayError(400, { details: `body: has more than ${MAX_JSON_VALUES} values: send less at a time` });
    }
    this.#keyExpected = this.#depth === 1 && this.#rootIsObject;
    if (this.#keyExpected) this.#key = undefined;
  }

  #isLongText(): boolean {
    return (
      this.#stringFrom !== undefined &&
      this.#depth === 1 &&
      !this.#keyExpected &&
      this.#key === this.longText?.name &&
      this.#kept.length - this.#stringFrom > LONG_TEXT_BYTES
    );
  }

  async #handOn(field: LongTextField): Promise<void> {
    const begun = this.#kept.cut(this.#stringFrom ?? 0).subarray(1);
    this.limits.keep(this.#kept.length);
    const standIn = await field.take(this.#restOfText(begun));
    this.#kept.append(Buffer.from(JSON.stringify(standIn)));
    this.#stringFrom = undefined;
  }

  /** Reads to the end even when the text is invalid, because "too large" takes precedence over "not valid JSON". */
  async *#restOfText(begun: Buffer): AsyncGenerator<string> {
    const text = new JsonText();
    let fault: SyntaxError | undefined;
    const read = (part: () => string): string => {
      try {
        return fault ? '' : part();
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        fault = error;
        return '';
      }
    };
    yield read(() => text.push(begun));
    for (let ended = false; !ended;) {
      if (!(await this.#next())) throw notJson();
      const from = this.#at;
      const end = this.#endOfString(from);
      this.#at = end + 1;
      ended = end < this.#chunk.length;
      const part = this.#chunk.subarray(from, end);
      yield read(() => text.push(part));
    }
    yield read(() => text.end());
    if (fault) throw notJson(fault);
  }
}
