import { Client } from 'undici';
import { contractViolation } from './contract.js';

export interface GatewayResponse<Body = Record<string, unknown>> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
  /** The bytes, for responses that are not JSON. */
  bytes: Buffer;
}

interface RequestOptions {
  body?: unknown;
  /** Sent as it is, with this content type. */
  raw?: { body: string | Buffer; contentType: string };
  headers?: Record<string, string>;
}

/**
 * A customer's client: one channel token, one base URL. Every JSON response of a listed endpoint is checked against
 * the contract, so that no journey can pass with a body that breaks it. Requests go down one connection in the order
 * of the calls.
 */
export class GatewayClient {
  private readonly connection: Client;

  constructor(
    baseUrl: string,
    readonly token: string | undefined,
  ) {
    this.connection = new Client(baseUrl, { pipelining: 64, headersTimeout: 120_000 });
  }

  get<Body = Record<string, unknown>>(path: string, options?: RequestOptions): Promise<GatewayResponse<Body>> {
    return this.request<Body>('GET', path, options);
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<GatewayResponse<Body>> {
    return this.request<Body>('POST', path, { ...options, body });
  }

  async request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<GatewayResponse<Body>> {
    const sent = options.raw?.body ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const contentType = options.raw?.contentType ?? (sent === undefined ? undefined : 'application/json');
    const response = await this.connection.request({
      method: method as 'GET',
      path,
      idempotent: true, // lets the client send the next request before the answer, in order
      ...(sent === undefined ? {} : { body: sent }),
      headers: {
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...options.headers,
      },
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const body = (isJson ? JSON.parse(bytes.toString('utf8')) : {}) as Body;
    const violation = isJson
      ? contractViolation(method, path.split('?')[0] ?? path, response.statusCode, body)
      : undefined;
    if (violation !== undefined) throw new Error(`${violation}\n${bytes.toString('utf8')}`);
    return { status: response.statusCode, headers: response.headers, body, bytes };
  }

  close(): Promise<void> {
    return this.connection.destroy();
  }
}
