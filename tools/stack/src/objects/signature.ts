/**
 * AWS Signature Version 4, verified as S3 does it: in the Authorization header or in the query of a presigned link.
 * Source: "Authenticating Requests (AWS Signature Version 4)" of the S3 API reference.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.js';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The parts of a request that its signature covers. */
interface Claim {
  credential: string;
  signedHeaders: string;
  signature: string;
  /** `20261127T120000Z` */
  date: string;
  payloadHash: string;
}

const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_S = 7 * 24 * 3600;

/** Percent-encoding as the signature wants it: all but the unreserved characters of RFC 3986. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function rawQuery(request: IncomingMessage): [string, string][] {
  const query = (request.url ?? '').split('?')[1] ?? '';
  const pairs = query.split('&').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decodeURIComponent(name), decodeURIComponent(value.join('='))];
  });
}

function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function headerClaim(request: IncomingMessage, nowMs: number): Claim {
  const authorization = header(request, 'authorization') ?? '';
  const fields = /^AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  const payloadHash = header(request, 'x-amz-content-sha256');
  const date = header(request, 'x-amz-date') ?? '';
  if (!fields || payloadHash === undefined) throw new S3Error('AccessDenied');
  const [, credential = '', signedHeaders = '', signature = ''] = fields;
  // NaN, for a date that is none, is not within the skew either.
  if (!(Math.abs(nowMs - timeOf(date)) <= MAX_SKEW_MS)) throw new S3Error('RequestTimeTooSkewed');
  return { credential, signedHeaders, signature, date, payloadHash };
}

function linkClaim(query: Map<string, string>, nowMs: number): Claim {
  const need = (name: string): string => {
    const value = query.get(name);
    if (value === undefined) throw new S3Error('AccessDenied', `${name} is missing`);
    return value;
  };
  const date = need('X-Amz-Date');
  const expiresS = Number(need('X-Amz-Expires'));
  if (!(expiresS > 0 && expiresS <= MAX_EXPIRES_S)) throw new S3Error('InvalidArgument', 'X-Amz-Expires');
  const age = nowMs - timeOf(date);
  if (!(age <= expiresS * 1000 && age >= -MAX_SKEW_MS)) throw new S3Error('AccessDenied', 'Request has expired');
  return {
    credential: need('X-Amz-Credential'),
    signedHeaders: need('X-Amz-SignedHeaders'),
    signature: need('X-Amz-Signature'),
    date,
    payloadHash: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
  };
}

/** Who sent a request. */
export interface Sender {
  accessKeyId: string;
  /** The sender's SHA-256 of the body (`x-amz-content-sha256`), covered by the signature. */
  payloadHash: string;
}

/**
 * Checks who sent the request.
 * @param secretOf the secret of an access key; undefined when there is no such key
 * @throws {S3Error} when it is not signed by the key, is too old, or was changed on the way
 */
export function verifySignature(
  request: IncomingMessage,
  secretOf: (accessKeyId: string) => string | undefined,
  nowMs: number,
): Sender {
  const query = rawQuery(request);
  const asMap = new Map(query);
  const claim = asMap.has('X-Amz-Signature') ? linkClaim(asMap, nowMs) : headerClaim(request, nowMs);
  const [accessKeyId = '', day = '', region = '', service = '', terminator] = claim.credential.split('/');
  const secret = secretOf(accessKeyId);
  if (secret === undefined) throw new S3Error('InvalidAccessKeyId');
  const signedHeaders = claim.signedHeaders.split(';');
  const malformed = service !== 's3' || terminator !== 'aws4_request' || !claim.date.startsWith(day);
  if (malformed || !signedHeaders.includes('host')) throw new S3Error('SignatureDoesNotMatch');

  const canonicalQuery = query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .sort();
  const canonicalHeaders = signedHeaders.map(
    (name) => `${name}:${(header(request, name) ?? '').trim().replace(/ +/g, ' ')}\n`,
  );
  const canonicalRequest = [
    request.method,
    (request.url ?? '').split('?')[0],
    canonicalQuery.join('&'),
    canonicalHeaders.join(''),
    claim.signedHeaders,
    claim.payloadHash,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const requestHash = createHash('sha256').update(canonicalRequest).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', claim.date, scope, requestHash].join('\n');
  const signingKey = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const expected = hmac(signingKey, toSign);
  const received = Buffer.from(claim.signature, 'hex');
  if (received.length !== expected.length || !timingSafeEqual(received, expected)) {
    throw new S3Error('SignatureDoesNotMatch');
  }
  return { accessKeyId, payloadHash: claim.payloadHash };
}
