import { createReadStream, createWriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Bucket, Preconditions, StoredObject } from './bucket.js';
import { receiveBody } from './received-body.js';
import { S3Error } from './s3-error.js';

const KEPT_HEADERS = ['content-type', 'cache-control', 'content-disposition', 'content-language', 'expires'];

/** The headers of an upload that come back with the object. */
export function keptHeaders(request: IncomingMessage): Record<string, string> {
  const kept: Record<string, string> = { 'content-type': 'application/octet-stream' };
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && (KEPT_HEADERS.includes(name) || name.startsWith('x-amz-meta-')))
      kept[name] = value;
  }
  const encoding = (request.headers['content-encoding'] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'aws-chunked');
  if (encoding.length > 0) kept['content-encoding'] = encoding.join(',');
  return kept;
}

export function preconditionsOf(request: IncomingMessage): Preconditions {
  return { ifMatch: request.headers['if-match'], ifNoneMatch: request.headers['if-none-match'] };
}

/** PutObject. The condition is looked at before the body, to spare it, and again when it counts, at the commit. */
export async function putObject(
  bucket: Bucket,
  key: string,
  request: IncomingMessage,
  payloadHash: string,
): Promise<StoredObject> {
  const conditions = preconditionsOf(request);
  bucket.check(key, conditions);
  const body = await receiveBody(request, bucket.newFile(), payloadHash);
  const object = { key, path: body.file, size: body.size, etag: `"${body.md5}"`, headers: keptHeaders(request) };
  return bucket.commit(object, conditions);
}

/** CopyObject; `x-amz-metadata-directive: REPLACE` takes the headers of this request. */
export async function copyObject(
  source: { bucket: Bucket; key: string },
  target: { bucket: Bucket; key: string },
  request: IncomingMessage,
): Promise<StoredObject> {
  const original = source.bucket.find(source.key);
  const conditions = preconditionsOf(request);
  target.bucket.check(target.key, conditions);
  const path = target.bucket.newFile();
  await pipeline(createReadStream(source.bucket.bytesPath(original)), createWriteStream(path));
  const isReplaced = request.headers['x-amz-metadata-directive'] === 'REPLACE';
  const headers = isReplaced ? keptHeaders(request) : original.headers;
  const { size, etag } = original;
  return target.bucket.commit({ key: target.key, path, size, etag, headers }, conditions);
}

interface ByteRange {
  start: number;
  end: number;
}

/** One range of RFC 9110; anything else is ignored, as S3 does. @throws {S3Error} InvalidRange when beyond the end */
function rangeOf(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (!match || (from === '' && to === '')) return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < start) return undefined;
  if (start >= size || (from === '' && to === '0')) throw new S3Error('InvalidRange');
  return { start, end };
}

function objectHeaders(object: StoredObject, query: URLSearchParams): Record<string, string> {
  const overridden = [...query]
    .filter(([name]) => name.startsWith('response-'))
    .map(([name, value]) => [name.slice('response-'.length), value]);
  return {
    ...object.headers,
    ...(Object.fromEntries(overridden) as Record<string, string>),
    etag: object.etag,
    'last-modified': new Date(object.modifiedAt).toUTCString(),
    'accept-ranges': 'bytes',
  };
}

/** GetObject and HeadObject, streamed. */
export async function getObject(
  bucket: Bucket,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const object = bucket.find(key);
  const ifMatch = request.headers['if-match'];
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== object.etag) throw new S3Error('PreconditionFailed');
  if (request.headers['if-none-match'] === object.etag) {
    response.writeHead(304, { etag: object.etag }).end();
    return;
  }
  const range = rangeOf(request.headers.range, object.size);
  const { start, end } = range ?? { start: 0, end: object.size - 1 };
  const headers = { ...objectHeaders(object, query), 'content-length': String(end - start + 1) };
  if (range) response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${object.size}` });
  else response.writeHead(200, headers);
  if (request.method === 'HEAD' || object.size === 0) response.end();
  else await pipeline(createReadStream(bucket.bytesPath(object), { start, end }), response);
}
