import type { Bucket } from './bucket.js';
import { S3Error } from './s3-error.js';
import { percentEncode } from './signature.js';
import { element } from './xml.js';

const MAX_KEYS = 1000;

interface Page {
  keys: string[];
  prefixes: string[];
  /** Where the next page goes on; undefined on the last page. */
  next?: string;
}

/** ListObjectsV2: keys in order, those with the delimiter after the prefix folded into common prefixes. */
function pageOf(bucket: Bucket, prefix: string, delimiter: string, after: string, limit: number): Page {
  const page: Page = { keys: [], prefixes: [] };
  let last = '';
  for (const key of bucket.keys(prefix)) {
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const folded = cut === -1 ? undefined : key.slice(0, cut + delimiter.length);
    const position = folded ?? key;
    const isDone = Buffer.compare(Buffer.from(position), Buffer.from(after)) <= 0;
    if (isDone || position === page.prefixes.at(-1)) continue;
    if (page.keys.length + page.prefixes.length === limit) return { ...page, next: last };
    if (folded === undefined) page.keys.push(key);
    else page.prefixes.push(folded);
    last = position;
  }
  return page;
}

/** @throws {S3Error} for the first version of the call and for limits that are no number */
export function listObjects(bucket: Bucket, query: URLSearchParams): string {
  if (query.get('list-type') !== '2') throw new S3Error('NotImplemented', 'Only ListObjectsV2 is supported');
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const token = query.get('continuation-token');
  const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString('utf8');
  const limit = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  if (!Number.isInteger(limit) || limit < 0) throw new S3Error('InvalidArgument', 'max-keys');
  const page = pageOf(bucket, prefix, delimiter, after, limit);
  const written = (text: string): string => (query.get('encoding-type') === 'url' ? percentEncode(text) : text);
  const hasMore = page.next !== undefined && limit > 0;
  return element('ListBucketResult', [
    element('Name', bucket.name),
    element('Prefix', written(prefix)),
    element('KeyCount', page.keys.length + page.prefixes.length),
    element('MaxKeys', limit),
    element('IsTruncated', hasMore),
    ...(hasMore ? [element('NextContinuationToken', Buffer.from(page.next ?? '').toString('base64url'))] : []),
    ...page.keys.map((key) => {
      const object = bucket.find(key);
      return element('Contents', [
        element('Key', written(key)),
        element('LastModified', object.modifiedAt),
        element('ETag', object.etag),
        element('Size', object.size),
        element('StorageClass', 'STANDARD'),
      ]);
    }),
    ...page.prefixes.map((one) => element('CommonPrefixes', [element('Prefix', written(one))])),
  ]);
}
