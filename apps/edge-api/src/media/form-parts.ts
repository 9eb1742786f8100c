/**
 * Reads a multipart form as it arrives: files go to the given function, texts are held in memory. What is not the content
 * of a file (texts, names, boundaries, whatever stands around the parts) is counted as it arrives, in bytes, and reported
 * as memory that is about to be held; all bytes together are held to the largest body that the endpoint takes.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Writable, type Readable } from 'node:stream';
import { FilePart, GatewayError, type FormPart } from '@dormouse/gateway-contract';
import busboy from 'busboy';
import type { BodySizeLimit } from '../body/body-limits.js';
import { GrowingBytes } from '../body/growing-bytes.js';

/** Takes in the file of a part; its result is kept under the part's handle. */
export type TakePart<Taken> = (bytes: Readable, claimed: { fileName?: string; mimeType?: string }) => Promise<Taken>;

export interface FormLimits extends BodySizeLimit {
  /** Called with the total number of bytes beside the files so far; throws to reject the form. */
  keep: (bytes: number) => void;
}

const MAX_TEXTS = 200;
/** One is accepted; a second is read only for an error that names the field. */
const MAX_FILES = 2;
/** The parser keeps every piece of a text as an object, hundreds of bytes for one: it gets none smaller than this. */
const SMALLEST_PIECE = 16 * 1024;

/**
 * Reads the whole form, or stops at the first failure and leaves the rest unread.
 * @param taken filled while reading, so that what was taken is known when reading fails
 * @throws {GatewayError} 400 for a form that is none or ends too early; what `take` and `limits` throw
 */
export async function readForm<Taken>(
  body: Readable,
  headers: IncomingHttpHeaders,
  limits: FormLimits,
  take: TakePart<Taken>,
  taken: Map<string, Taken>,
): Promise<FormPart[]> {
  const parser = openParser(headers);
  const counted = new CountedForm(parser, limits);
  const parts: FormPart[] = [];
  const filesRead: Promise<void>[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (details: string) => reject(new GatewayError(400, { details: `body: ${details}` }));
      parser.on('file', (field, stream, { filename, mimeType }) => {
        const claimed = { ...(filename && { fileName: unescaped(filename) }), ...(mimeType && { mimeType }) };
        const handle = randomUUID();
        stream.on('error', () => undefined);
        counted.isFile(stream);
        const fileRead = take(stream, claimed).then((file) => {
          taken.set(handle, file);
          parts.push(new FilePart(field, handle, claimed));
        });
        fileRead.catch(reject);
        filesRead.push(fileRead);
      });
      parser.on('field', (name, text) => parts.push({ name, text }));
      for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
        parser.on(limit, () => fail('the form has too many parts'));
      parser.once('error', () => fail('not a valid form'));
      parser.once('close', resolve);
      body.once('close', () => {
        if (!body.readableEnded) fail('the form ends unexpectedly');
      });
      counted.once('error', reject);
      body.pipe(counted);
    });
    await Promise.all(filesRead);
    return parts;
  } catch (error) {
    body.unpipe(counted);
    counted.destroy();
    parser.on('error', () => undefined);
    parser.destroy();
    await Promise.allSettled(filesRead);
    throw error;
  }
}

/** The bytes of a form on their way to its parser. */
class CountedForm extends Writable {
  /** Too small to be parsed alone. */
  readonly #begun = new GrowingBytes();
  readonly #files: Readable[] = [];
  #arrivedBytes = 0;
  #parsedBytes = 0;
  /** Read from the files that the parser found. */
  #fileBytes = 0;

  constructor(
    private readonly parser: Writable,
    private readonly limits: FormLimits,
  ) {
    super();
  }

  /** To be called as the parser finds the file, before anything is read from it. */
  isFile(stream: Readable): void {
    this.#files.push(stream);
    // Paused, so that counting does not make it flow; whoever reads it sets off the event as well.
    stream.pause().on('data', (piece: Buffer) => (this.#fileBytes += piece.length));
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#arrivedBytes += chunk.length;
    if (this.#arrivedBytes > this.limits.maxBytes) return done(this.limits.refusal());
    if (this.#begun.length === 0 && chunk.length >= SMALLEST_PIECE) return this.#parse(chunk, done);
    this.#begun.append(chunk);
    if (this.#begun.length < SMALLEST_PIECE) return done();
    this.#parse(this.#begun.cut(0), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    const end = (error?: Error | null): void => {
      if (!error) this.parser.end();
      done(error);
    };
    if (this.#begun.length === 0) return end();
    this.#parse(this.#begun.cut(0), end);
  }

  /** The parser is done with a piece once its texts are held and its files have room for more. */
  #parse(piece: Buffer, done: (error?: Error | null) => void): void {
    this.parser.write(piece, (failed) => {
      if (failed) return; // The parser reports it.
      this.#parsedBytes += piece.length;
      try {
        this.limits.keep(this.#besideFiles());
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error('a form was refused', { cause: error }));
      }
    });
  }

  #besideFiles(): number {
    const unreadBytes = this.#files.reduce((sum, file) => sum + file.readableLength, 0);
    return this.#parsedBytes - this.#fileBytes - unreadBytes;
  }
}

function openParser(headers: IncomingHttpHeaders): busboy.Busboy {
  // A single text has no limit of its own: all of them together have one, and cutting a text short would alter it.
  const limits = { files: MAX_FILES, fields: MAX_TEXTS, fieldSize: Infinity, parts: MAX_TEXTS + MAX_FILES };
  try {
    return busboy({ headers, limits, defParamCharset: 'utf8' });
  } catch (error) {
    throw new GatewayError(400, { details: 'body: not a valid form' }, { cause: error });
  }
}

/** A name as it was before the form: browsers write exactly these three characters so (WHATWG, multipart/form-data). */
function unescaped(name: string): string {
  return name.replace(/%(22|0D|0A)/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
