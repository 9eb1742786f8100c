import { Transform, type TransformCallback } from 'node:stream';
import { S3Error } from './s3-error.js';

const MAX_LINE = 4096;

/**
 * Takes the `aws-chunked` framing off a body: `<hex size>[;extension]\r\n<bytes>\r\n ... 0\r\n<trailers>\r\n`.
 * The SDK frames streams so, to send their checksum after them; `trailers` holds those lines once the stream has ended.
 * Signatures of single chunks are not checked: the SDK sends none.
 */
export class AwsChunkedDecoder extends Transform {
  readonly trailers = new Map<string, string>();
  #state: 'size' | 'bytes' | 'bytes-end' | 'trailers' = 'size';
  #left = 0;
  #line = '';

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      let rest = chunk;
      while (rest.length > 0) rest = this.#take(rest);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new S3Error('IncompleteBody'));
    }
  }

  override _flush(done: TransformCallback): void {
    if (this.#line.trim() !== '') this.#trailer(this.#line);
    done(this.#state === 'trailers' ? null : new S3Error('IncompleteBody'));
  }

  /** Consumes the front of `chunk`; returns what is left of it. */
  #take(chunk: Buffer): Buffer {
    if (this.#state === 'bytes') {
      const bytes = chunk.subarray(0, this.#left);
      this.push(bytes);
      this.#left -= bytes.length;
      if (this.#left === 0) this.#state = 'bytes-end';
      return chunk.subarray(bytes.length);
    }
    const end = chunk.indexOf(0x0a);
    this.#line += chunk.toString('latin1', 0, end === -1 ? chunk.length : end);
    if (this.#line.length > MAX_LINE) throw new S3Error('IncompleteBody');
    if (end === -1) return Buffer.alloc(0);
    const line = this.#line.trimEnd();
    this.#line = '';
    this.#endLine(line);
    return chunk.subarray(end + 1);
  }

  #endLine(line: string): void {
    if (this.#state === 'trailers') {
      if (line !== '') this.#trailer(line);
    } else if (this.#state === 'bytes-end') {
      if (line !== '') throw new S3Error('IncompleteBody');
      this.#state = 'size';
    } else {
      const size = /^([0-9a-f]{1,8})(?:;.*)?$/i.exec(line)?.[1];
      if (size === undefined) throw new S3Error('IncompleteBody');
      this.#left = parseInt(size, 16);
      this.#state = this.#left === 0 ? 'trailers' : 'bytes';
    }
  }

  #trailer(line: string): void {
    const colon = line.indexOf(':');
    this.trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}
