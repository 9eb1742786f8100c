/**
 * A small server of the S3 protocol over a folder, so that development, tests and single-machine installations use the
 * same client and the same path as production. Path-style addresses; objects, conditional writes, ranges, copies,
 * multipart uploads, listings and presigned links; every request must be signed.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Bucket } from './bucket.js';
import { listObjects } from './listing.js';
import { MultipartUploads } from './multipart.js';
import { copyObject, getObject, keptHeaders, preconditionsOf, putObject } from './object-requests.js';
import { receiveText } from './received-body.js';
import { type Access, allows, type Policy } from './policy.js';
import { S3Error } from './s3-error.js';
import { type Credentials, verifySignature } from './signature.js';
import { element, elements, elementText, xmlDocument } from './xml.js';

/** The credentials are those of the account that may do everything. */
export interface ObjectStoreOptions extends Credentials {
  /** Further accounts, which may do what their policies allow. */
  accounts?: readonly (Credentials & { policy: Policy })[];
  /** Folder of the buckets, made if missing. */
  dir: string;
  port: number;
  /** Address to listen on; default: the loopback address. */
  host?: string;
  /** Buckets that are there from the start. */
  buckets: readonly string[];
  /** True: an answered write survives a power cut. */
  durable: boolean;
  now?: () => number;
}

export interface ObjectStore {
  readonly endpoint: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** One request on its way through the server. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  payloadHash: string;
  /** @throws {S3Error} when the sender may not */
  require: (access: Access) => void;
}

/** What a request to an object needs a right to; parts of an upload are a PUT and a POST. */
const ACTIONS: Partial<Record<string, Access['action']>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  POST: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

function sendXml(response: ServerResponse, root: string): void {
  response.writeHead(200, { 'content-type': 'application/xml' }).end(xmlDocument(root));
}

function sendEmpty(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end();
}

class ObjectServer {
  readonly #buckets = new Map<string, Bucket>();
  readonly #uploads = new MultipartUploads();

  constructor(readonly options: ObjectStoreOptions) {
    mkdirSync(options.dir, { recursive: true });
    for (const name of readdirSync(options.dir)) if (BUCKET_NAME.test(name)) this.#open(name);
    for (const name of options.buckets) this.#open(name);
  }

  #open(name: string): void {
    if (!BUCKET_NAME.test(name)) throw new S3Error('InvalidBucketName');
    if (this.#buckets.has(name)) return;
    this.#buckets.set(name, new Bucket(name, join(this.options.dir, name), this.options.durable));
  }

  #bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name);
    if (!bucket) throw new S3Error('NoSuchBucket');
    return bucket;
  }

  /** Answers one request. @throws {S3Error} for every refusal */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const nowMs = (this.options.now ?? Date.now)();
    const { accessKeyId, payloadHash } = verifySignature(request, (id) => this.#secretOf(id), nowMs);
    const [path = '', search = ''] = (request.url ?? '').split('?', 2);
    const [, bucketName = '', ...rest] = path.split('/');
    const key = decodeURIComponent(rest.join('/'));
    const require = (access: Access): void => this.#require(accessKeyId, access);
    const exchange = { request, response, query: new URLSearchParams(search), payloadHash, require };
    if (Buffer.byteLength(key) > 1024) throw new S3Error('KeyTooLongError');
    if (bucketName === '') this.#listBuckets(exchange);
    else if (key === '') await this.#bucketRequest(exchange, decodeURIComponent(bucketName));
    else await this.#objectRequest(exchange, this.#bucket(decodeURIComponent(bucketName)), key);
  }

  #secretOf(accessKeyId: string): string | undefined {
    const { options } = this;
    return [options, ...(options.accounts ?? [])].find((one) => one.accessKeyId === accessKeyId)?.secretAccessKey;
  }

  #require(accessKeyId: string, access: Access): void {
    if (accessKeyId === this.options.accessKeyId) return;
    const account = this.options.accounts?.find((one) => one.accessKeyId === accessKeyId);
    if (!account || !allows(account.policy, access)) throw new S3Error('AccessDenied');
  }

  #listBuckets({ request, response, require }: Exchange): void {
    require({ action: 's3:ListAllMyBuckets', bucket: '*' });
    if (request.method !== 'GET') throw new S3Error('MethodNotAllowed');
    const buckets = [...this.#buckets.keys()].map((name) => element('Bucket', [element('Name', name)]));
    sendXml(response, element('ListAllMyBucketsResult', [element('Buckets', buckets)]));
  }

  async #bucketRequest(exchange: Exchange, name: string): Promise<void> {
    const { request, response, query, require } = exchange;
    if (request.method === 'PUT') {
      require({ action: 's3:CreateBucket', bucket: name });
      if (this.#buckets.has(name)) throw new S3Error('BucketAlreadyOwnedByYou');
      this.#open(name);
      sendEmpty(response, 200, { location: `/${name}` });
    } else if (request.method === 'HEAD') {
      require({ action: 's3:ListBucket', bucket: name });
      this.#bucket(name);
      sendEmpty(response, 200);
    } else if (request.method === 'GET') {
      require({ action: 's3:ListBucket', bucket: name, prefix: query.get('prefix') ?? '' });
      sendXml(response, listObjects(this.#bucket(name), query));
    } else if (request.method === 'POST' && query.has('delete')) {
      await this.#deleteMany(exchange, this.#bucket(name));
    } else {
      throw new S3Error('MethodNotAllowed');
    }
  }

  async #deleteMany({ request, response, payloadHash, require }: Exchange, bucket: Bucket): Promise<void> {
    const xml = await receiveText(request, payloadHash);
    const keys = elements(xml, 'Object').map((one) => elementText(one, 'Key') ?? '');
    if (keys.length === 0 || keys.length > 1000) throw new S3Error('MalformedXML');
    for (const key of keys) require({ action: 's3:DeleteObject', bucket: bucket.name, key });
    await Promise.all(keys.map((key) => bucket.delete(key)));
    const isQuiet = elementText(xml, 'Quiet') === 'true';
    const deleted = isQuiet ? [] : keys.map((key) => element('Deleted', [element('Key', key)]));
    sendXml(response, element('DeleteResult', deleted));
  }

  async #objectRequest(exchange: Exchange, bucket: Bucket, key: string): Promise<void> {
    const { request, response, query, payloadHash, require } = exchange;
    const isUpload = query.has('uploads') || query.has('uploadId');
    const action = request.method === 'DELETE' && isUpload ? 's3:AbortMultipartUpload' : ACTIONS[request.method ?? ''];
    if (action === undefined) throw new S3Error('MethodNotAllowed');
    require({ action, bucket: bucket.name, key });
    if (isUpload) {
      await this.#multipartRequest(exchange, bucket, key);
    } else if (request.method === 'PUT' && request.headers['x-amz-copy-source'] !== undefined) {
      const source = this.#copySource(String(request.headers['x-amz-copy-source']));
      require({ action: 's3:GetObject', bucket: source.bucket.name, key: source.key });
      const object = await copyObject(source, { bucket, key }, request);
      const fields = [element('ETag', object.etag), element('LastModified', object.modifiedAt)];
      sendXml(response, element('CopyObjectResult', fields));
    } else if (request.method === 'PUT') {
      const object = await putObject(bucket, key, request, payloadHash);
      sendEmpty(response, 200, { etag: object.etag });
    } else if (request.method === 'GET' || request.method === 'HEAD') {
      // Who may not list is not told whether there is such a key.
      if (!bucket.has(key)) require({ action: 's3:ListBucket', bucket: bucket.name });
      await getObject(bucket, key, request, response, query);
    } else if (request.method === 'DELETE') {
      await bucket.delete(key);
      sendEmpty(response, 204);
    } else {
      throw new S3Error('MethodNotAllowed');
    }
  }

  #copySource(header: string): { bucket: Bucket; key: string } {
    const [name = '', ...key] = decodeURIComponent(header).replace(/^\//, '').split('/');
    return { bucket: this.#bucket(name), key: key.join('/') };
  }

  async #multipartRequest(exchange: Exchange, bucket: Bucket, key: string): Promise<void> {
    const { request, response, query, payloadHash } = exchange;
    const id = query.get('uploadId') ?? '';
    if (request.method === 'POST' && query.has('uploads')) {
      const begun = this.#uploads.begin(bucket, key, keptHeaders(request));
      const fields = [element('Bucket', bucket.name), element('Key', key), element('UploadId', begun)];
      sendXml(response, element('InitiateMultipartUploadResult', fields));
    } else if (request.method === 'PUT') {
      const number = Number(query.get('partNumber'));
      const etag = await this.#uploads.takePart({ id, bucket, key, number }, request, payloadHash);
      sendEmpty(response, 200, { etag });
    } else if (request.method === 'POST') {
      const xml = await receiveText(request, payloadHash);
      const object = await this.#uploads.complete(id, bucket, key, xml, preconditionsOf(request));
      const fields = [element('Bucket', bucket.name), element('Key', key), element('ETag', object.etag)];
      sendXml(response, element('CompleteMultipartUploadResult', fields));
    } else if (request.method === 'DELETE') {
      await this.#uploads.abort(id, bucket, key);
      sendEmpty(response, 204);
    } else {
      throw new S3Error('MethodNotAllowed');
    }
  }
}

function refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy(); // the response is cut, so that no client takes it for whole
    return;
  }
  // A body that is not read would keep the client writing: read and drop it.
  request.resume();
  const refusal = error instanceof S3Error ? error : new S3Error('InternalError', 'We encountered an internal error.');
  const body = xmlDocument(element('Error', [element('Code', refusal.code), element('Message', refusal.message)]));
  response.writeHead(refusal.status, { 'content-type': 'application/xml' });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Starts the server. @throws when the port is taken or the folder cannot be used */
export async function startObjectStore(options: ObjectStoreOptions): Promise<ObjectStore> {
  const objects = new ObjectServer(options);
  const server = createServer((request, response) => {
    objects.handle(request, response).catch((error: unknown) => refuse(error, request, response));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host ?? '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
