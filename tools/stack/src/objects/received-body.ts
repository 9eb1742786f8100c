import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { AwsChunkedDecoder } from './aws-chunked.js';
import { S3Error } from './s3-error.js';

/** A body that lies in a file, measured. */
export interface ReceivedBody {
  file: string;
  size: number;
  /** Hex; the ETag of an object that was put in one piece. */
  md5: string;
}

/** Passes bytes through and measures them. */
class Meter extends Transform {
  size = 0;
  crc = 0;
  readonly md5 = createHash('md5');
  readonly sha256 = createHash('sha256');

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    this.crc = crc32(chunk, this.crc);
    this.md5.update(chunk);
    this.sha256.update(chunk);
    done(null, chunk);
  }
}

/** Flushes a file that was written, so that a power cut cannot take it back. */
export async function flushFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Streams the body into `file` and checks every digest that came with it: the signed SHA-256, Content-MD5, and CRC-32
 * in a header or in a trailer.
 * @throws {S3Error} when the body is cut short or does not match; nothing stays on the disk then
 */
export async function receiveBody(request: IncomingMessage, file: string, payloadHash: string): Promise<ReceivedBody> {
  const meter = new Meter();
  const framed =
    payloadHash.startsWith('STREAMING-') || /\baws-chunked\b/.test(request.headers['content-encoding'] ?? '');
  const decoder = framed ? new AwsChunkedDecoder() : undefined;
  try {
    const sink = createWriteStream(file);
    await (decoder ? pipeline(request, decoder, meter, sink) : pipeline(request, meter, sink));
    const md5 = meter.md5.digest();
    check('BadDigest', request.headers['content-md5'], md5.toString('base64'));
    const crc = Buffer.alloc(4);
    crc.writeUInt32BE(meter.crc);
    const crcHeader = request.headers['x-amz-checksum-crc32'] ?? decoder?.trailers.get('x-amz-checksum-crc32');
    check('BadDigest', crcHeader, crc.toString('base64'));
    if (/^[0-9a-f]{64}$/.test(payloadHash)) check('XAmzContentSHA256Mismatch', payloadHash, meter.sha256.digest('hex'));
    return { file, size: meter.size, md5: md5.toString('hex') };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

function check(
  code: 'BadDigest' | 'XAmzContentSHA256Mismatch',
  claimed: string | string[] | undefined,
  actual: string,
): void {
  if (claimed !== undefined && claimed !== actual) throw new S3Error(code);
}

/** A small body as text. @throws {S3Error} when it is larger than a megabyte or does not match its signed digest */
export async function receiveText(request: IncomingMessage, payloadHash: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > 1 << 20) throw new S3Error('MalformedXML');
    chunks.push(bytes);
  }
  const body = Buffer.concat(chunks);
  if (/^[0-9a-f]{64}$/.test(payloadHash)) {
    check('XAmzContentSHA256Mismatch', payloadHash, createHash('sha256').update(body).digest('hex'));
  }
  return body.toString('utf8');
}
