import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Bucket, Preconditions, StoredObject } from './bucket.js';
import { type ReceivedBody, receiveBody } from './received-body.js';
import { S3Error } from './s3-error.js';
import { elements, elementText } from './xml.js';

interface Upload {
  bucket: Bucket;
  key: string;
  headers: Record<string, string>;
  parts: Map<number, ReceivedBody>;
}

/** S3's rule: every part but the last has at least 5 MiB. */
const MIN_PART_BYTES = 5 << 20;
const MAX_PARTS = 10_000;

/** Uploads in parts. They live as long as the server: an upload that was not completed is gone after a restart. */
export class MultipartUploads {
  readonly #uploads = new Map<string, Upload>();

  begin(bucket: Bucket, key: string, headers: Record<string, string>): string {
    const id = randomUUID();
    this.#uploads.set(id, { bucket, key, headers, parts: new Map() });
    return id;
  }

  #find(id: string, bucket: Bucket, key: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload?.bucket !== bucket || upload.key !== key) throw new S3Error('NoSuchUpload');
    return upload;
  }

  /** Takes one part; a part sent again replaces the one before. @returns its ETag */
  async takePart(
    target: { id: string; bucket: Bucket; key: string; number: number },
    request: IncomingMessage,
    payloadHash: string,
  ): Promise<string> {
    const upload = this.#find(target.id, target.bucket, target.key);
    if (!Number.isInteger(target.number) || target.number < 1 || target.number > MAX_PARTS) {
      throw new S3Error('InvalidArgument', 'partNumber');
    }
    const part = await receiveBody(request, target.bucket.newFile(), payloadHash);
    const replaced = upload.parts.get(target.number);
    upload.parts.set(target.number, part);
    if (replaced) await rm(replaced.file, { force: true });
    return `"${part.md5}"`;
  }

  /**
   * Joins the listed parts into the object.
   * @throws {S3Error} when a part is missing, changed, too small or out of order, or a condition does not hold
   */
  async complete(
    id: string,
    bucket: Bucket,
    key: string,
    xml: string,
    conditions: Preconditions,
  ): Promise<StoredObject> {
    const upload = this.#find(id, bucket, key);
    const parts = listedParts(upload, xml);
    bucket.check(key, conditions);
    const path = bucket.newFile();
    const md5 = createHash('md5');
    const sink = createWriteStream(path);
    try {
      for (const part of parts) {
        await pipeline(createReadStream(part.file), sink, { end: false });
        md5.update(Buffer.from(part.md5, 'hex'));
      }
      await new Promise<void>((resolve, reject) => {
        sink.once('error', reject);
        sink.end(resolve);
      });
    } catch (error) {
      sink.destroy();
      await rm(path, { force: true });
      throw error;
    }
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    const etag = `"${md5.digest('hex')}-${parts.length}"`;
    const stored = await bucket.commit({ key, path, size, etag, headers: upload.headers }, conditions);
    await this.abort(id, bucket, key);
    return stored;
  }

  /** Forgets the upload and its parts. */
  async abort(id: string, bucket: Bucket, key: string): Promise<void> {
    const upload = this.#find(id, bucket, key);
    this.#uploads.delete(id);
    await Promise.all([...upload.parts.values()].map((part) => rm(part.file, { force: true })));
  }
}

function listedParts(upload: Upload, xml: string): ReceivedBody[] {
  const listed = elements(xml, 'Part').map((part) => ({
    number: Number(elementText(part, 'PartNumber')),
    etag: elementText(part, 'ETag')?.replaceAll('"', ''),
  }));
  if (listed.length === 0) throw new S3Error('MalformedXML');
  return listed.map(({ number, etag }, index) => {
    const before = listed[index - 1];
    if (before && before.number >= number) throw new S3Error('InvalidPartOrder');
    const part = upload.parts.get(number);
    if (part?.md5 !== etag || !part) throw new S3Error('InvalidPart');
    if (index < listed.length - 1 && part.size < MIN_PART_BYTES) throw new S3Error('EntityTooSmall');
    return part;
  });
}
