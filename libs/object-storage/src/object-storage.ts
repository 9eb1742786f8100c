/**
 * One bucket of an S3-compatible object storage.
 *
 * When the storage is away: every call is tried `attempts` times with growing, jittered pauses, each attempt bounded by
 * `connectTimeoutMs` and `idleTimeoutMs`, and then fails with ObjectStorageError 'away'. A stream that breaks after its
 * first byte is not resumed here; its reader sees the error. Conditional writes are safe to retry: a second attempt
 * after an unseen success fails with 'conflict', which callers of a conditional write handle anyway.
 * Memory: bodies are streams; an upload of unknown size holds at most two parts of `PART_BYTES`.
 */
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { attachmentHeader } from './attachment-header.js';
import { isObjectFailure, ObjectStorageError, toObjectStorageError } from './object-storage-error.js';

const PART_BYTES = 5 * 1024 * 1024;
/** The most keys of one DeleteObjects. */
const DELETE_BATCH = 1_000;
/** Signature version 4 allows no longer validity. */
export const LONGEST_LINK_S = 7 * 24 * 60 * 60;

export interface ObjectStorageOptions {
  bucket: string;
  /** Where an S3-compatible storage listens; absent for AWS itself. */
  endpoint?: string;
  /** The same storage as customers reach it: links are signed for this address. Default: `endpoint`. */
  publicEndpoint?: string;
  /** Default `us-east-1`, which foreign storages accept. */
  region?: string;
  /** Absent: the SDK's own chain (environment, instance role). */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** How many times a call is made before it fails as 'away'. */
  attempts?: number;
  connectTimeoutMs?: number;
  /** Timeout of an attempt without any data on its connection. */
  idleTimeoutMs?: number;
}

/** What is written: bytes, or a function that opens the stream anew for every attempt. */
export type ObjectBody = Uint8Array | (() => Readable);

export interface PutOptions {
  contentType?: string;
  /** Bytes of a streamed body, if known; unknown sizes go up in parts. */
  size?: number;
  /** Write only if no object has this key. */
  ifAbsent?: boolean;
  /** Write only over the object with this ETag. */
  ifMatch?: string;
  signal?: AbortSignal;
}

/** A part of an object: from `start` to `end` inclusive, or the last `last` bytes. */
export type ByteRange = { start: number; end?: number } | { last: number };

export interface ObjectFacts {
  key: string;
  size: number;
  etag: string;
  modifiedAt: Date;
}

export interface StoredObject {
  /** Must be consumed or destroyed: it holds a connection. */
  stream: Readable;
  /** Bytes of `stream`. */
  size: number;
  /** Bytes of the whole object. */
  totalSize: number;
  /** Which bytes these are, counted from 0, end inclusive; absent for the whole object. */
  range?: { start: number; end: number };
  contentType: string;
  etag: string;
}

export class ObjectStorage {
  readonly #client: S3Client;
  readonly #signer: S3Client;
  readonly #bucket: string;
  readonly #attempts: number;

  constructor(options: ObjectStorageOptions) {
    this.#bucket = options.bucket;
    this.#attempts = options.attempts ?? 4;
    this.#client = clientOf(options, options.endpoint);
    this.#signer = options.publicEndpoint === undefined ? this.#client : clientOf(options, options.publicEndpoint);
  }

  /**
   * Writes an object whole or not at all.
   * @throws {ObjectStorageError} 'conflict' when a condition does not hold; 'away'; 'refused'
   */
  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<{ etag: string }> {
    const put = () =>
      typeof body === 'function' && options.size === undefined
        ? this.#putInParts(key, body, options)
        : this.#putAtOnce(key, body, options);
    return this.#persist(`put ${key}`, put, options.signal);
  }

  async #putAtOnce(key: string, body: ObjectBody, options: PutOptions): Promise<{ etag: string }> {
    const stream = typeof body === 'function' ? body() : undefined;
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      Body: stream ?? (body as Uint8Array),
      ContentLength: stream ? options.size : undefined,
      ContentType: options.contentType ?? 'application/octet-stream',
      IfNoneMatch: options.ifAbsent ? '*' : undefined,
      IfMatch: options.ifMatch,
    });
    const failed = stream && failureOfStream(stream);
    try {
      const sent = this.#client.send(command, { abortSignal: options.signal });
      const { ETag } = await (failed ? Promise.race([sent, failed]) : sent);
      return { etag: ETag ?? '' };
    } finally {
      stream?.destroy();
    }
  }

  async #putInParts(key: string, body: () => Readable, options: PutOptions): Promise<{ etag: string }> {
    const source = body();
    // lib-storage reads with `for await`; a PassThrough of ours can be failed from outside when the caller aborts.
    const stream = source.pipe(new PassThrough());
    const failed = failureOfStream(source);
    const upload = new Upload({
      client: this.#client,
      queueSize: 1,
      partSize: PART_BYTES,
      params: {
        Bucket: this.#bucket,
        Key: key,
        Body: stream,
        ContentType: options.contentType ?? 'application/octet-stream',
        IfNoneMatch: options.ifAbsent ? '*' : undefined,
        IfMatch: options.ifMatch,
      },
    });
    const abort = () => {
      source.destroy();
      stream.destroy(new Error('aborted'));
      void upload.abort();
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    try {
      const { ETag } = await Promise.race([upload.done(), failed]);
      return { etag: ETag ?? '' };
    } catch (error) {
      await upload.abort();
      throw error;
    } finally {
      options.signal?.removeEventListener('abort', abort);
      source.destroy();
      stream.destroy();
    }
  }

  /**
   * Opens an object, or a part of it.
   * @throws {ObjectStorageError} 'missing', 'range', 'away', 'refused'
   */
  async get(key: string, options: { range?: ByteRange; signal?: AbortSignal } = {}): Promise<StoredObject> {
    const found = await this.#persist(
      `get ${key}`,
      () =>
        this.#client.send(
          new GetObjectCommand({ Bucket: this.#bucket, Key: key, Range: options.range && rangeHeader(options.range) }),
          { abortSignal: options.signal },
        ),
      options.signal,
    );
    if (!(found.Body instanceof Readable))
      throw new ObjectStorageError('refused', `object storage: get ${key}: no body`);
    const range = readContentRange(found.ContentRange);
    const size = found.ContentLength ?? 0;
    return {
      stream: found.Body,
      size,
      totalSize: range?.total ?? size,
      ...(range && { range: { start: range.start, end: range.end } }),
      contentType: found.ContentType ?? 'application/octet-stream',
      etag: found.ETag ?? '',
    };
  }

  /** What is known of an object; undefined when there is none. */
  async head(key: string): Promise<(ObjectFacts & { contentType: string }) | undefined> {
    try {
      const found = await this.#persist(`head ${key}`, () =>
        this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: key })),
      );
      return {
        key,
        size: found.ContentLength ?? 0,
        etag: found.ETag ?? '',
        modifiedAt: found.LastModified ?? new Date(0),
        contentType: found.ContentType ?? 'application/octet-stream',
      };
    } catch (error) {
      if (error instanceof ObjectStorageError && error.failure === 'missing') return undefined;
      throw error;
    }
  }

  /**
   * Deletes objects; keys that name none are fine.
   * @throws {ObjectStorageError} when any key could not be deleted (others may be gone)
   */
  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETE_BATCH) {
      const batch = keys.slice(from, from + DELETE_BATCH);
      const answer = await this.#persist(`delete ${batch.length} objects`, () =>
        this.#client.send(
          new DeleteObjectsCommand({
            Bucket: this.#bucket,
            Delete: { Objects: batch.map((Key) => ({ Key })), Quiet: true },
          }),
        ),
      );
      const refused = answer.Errors?.find((error) => error.Code !== 'NoSuchKey');
      if (refused) throw new ObjectStorageError('away', `object storage: delete ${refused.Key}: ${refused.Code}`);
    }
  }

  /** Every object whose key begins with `prefix`, by key, read page by page. */
  async *list(prefix: string, options: { after?: string; pageSize?: number } = {}): AsyncGenerator<ObjectFacts> {
    let token: string | undefined;
    do {
      const page = await this.#persist(`list ${prefix}`, () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: prefix,
            MaxKeys: options.pageSize,
            StartAfter: token === undefined ? options.after : undefined,
            ContinuationToken: token,
          }),
        ),
      );
      for (const { Key, Size, ETag, LastModified } of page.Contents ?? []) {
        if (Key === undefined) continue;
        yield { key: Key, size: Size ?? 0, etag: ETag ?? '', modifiedAt: LastModified ?? new Date(0) };
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /**
   * A link that works without credentials until it expires. Signed here, without a request to the storage.
   * @param options.expiresInS at most `LONGEST_LINK_S`
   * @param options.downloadName the name a browser saves it under; any characters
   * @throws {ObjectStorageError} when there are no credentials to sign with
   */
  async signGet(
    key: string,
    options: { expiresInS: number; downloadName?: string; contentType?: string },
  ): Promise<string> {
    const command = new GetObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      ResponseContentDisposition:
        options.downloadName === undefined ? undefined : attachmentHeader(options.downloadName),
      ResponseContentType: options.contentType,
    });
    const expiresIn = Math.max(1, Math.min(Math.floor(options.expiresInS), LONGEST_LINK_S));
    try {
      return await getSignedUrl(this.#signer, command, { expiresIn });
    } catch (error) {
      throw toObjectStorageError(error, `sign a link to ${key}`);
    }
  }

  /** Resolves when the bucket answers; for readiness probes. */
  async reachable(signal?: AbortSignal): Promise<void> {
    try {
      await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal: signal });
    } catch (error) {
      throw toObjectStorageError(error, 'reach the bucket');
    }
  }

  /**
   * Makes the bucket unless it exists: for what sets an installation up, with an account that may.
   * @returns true when it was made now
   * @throws {ObjectStorageError} 'away', 'refused'
   */
  async ensureBucket(): Promise<boolean> {
    const Bucket = this.#bucket;
    try {
      await this.#persist('look for the bucket', () => this.#client.send(new HeadBucketCommand({ Bucket })));
      return false;
    } catch (error) {
      if (!isObjectFailure(error, 'missing')) throw error;
    }
    try {
      await this.#persist('make the bucket', () => this.#client.send(new CreateBucketCommand({ Bucket })));
      return true;
    } catch (error) {
      // Another was first, or an answer was lost.
      if (isObjectFailure(error, 'conflict')) return false;
      throw error;
    }
  }

  close(): void {
    this.#client.destroy();
    if (this.#signer !== this.#client) this.#signer.destroy();
  }

  /** The SDK's own retries are off: it cannot rewind a stream, while `attempt` opens a new one each time. */
  async #persist<T>(doing: string, attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let made = 1; ; made += 1) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof SourceFailure) throw error.cause;
        const known = toObjectStorageError(error, doing);
        if (known.failure !== 'away' || made >= this.#attempts) throw known;
        await pauseBefore(made, signal);
      }
    }
  }
}

/** Waits 50 to 150 ms after the first failure, twice as long after each further one, 6 s at most. */
async function pauseBefore(made: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = Math.min(2 ** made * 50, 4_000) * (0.5 + Math.random());
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

/** The SDK would write to the console; what matters reaches the caller as an error. */
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** The stream the caller gave failed; trying again is not for us to decide. */
class SourceFailure extends Error {}

function failureOfStream(stream: Readable): Promise<never> {
  const failed = new Promise<never>((_resolve, reject) => {
    stream.once('error', (cause) => reject(new SourceFailure('the source of the upload failed', { cause })));
  });
  // The upload may win the race; a later failure of a destroyed source is ignored.
  failed.catch(() => undefined);
  return failed;
}

function clientOf(options: ObjectStorageOptions, endpoint: string | undefined): S3Client {
  return new S3Client({
    region: options.region ?? 'us-east-1',
    endpoint,
    forcePathStyle: endpoint !== undefined,
    credentials: options.credentials,
    maxAttempts: 1,
    logger: silent,
    // Foreign storages refuse the trailing checksums that AWS itself accepts.
    requestChecksumCalculation: endpoint === undefined ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: endpoint === undefined ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? 5_000,
      socketTimeout: options.idleTimeoutMs ?? 20_000,
    },
  });
}

function rangeHeader(range: ByteRange): string {
  return 'last' in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end ?? ''}`;
}

function readContentRange(header: string | undefined): { start: number; end: number; total: number } | undefined {
  const parts = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '');
  return parts ? { start: Number(parts[1]), end: Number(parts[2]), total: Number(parts[3]) } : undefined;
}
