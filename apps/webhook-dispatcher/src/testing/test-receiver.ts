import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SELF_SIGNED } from './test-certificate.js';

/** A call as it arrived. */
export interface ReceivedCall {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** Number of the event, for events made by the test outbox. */
  number: number;
  /** On the monotonic clock. */
  atMs: number;
  /** Which connection it came over: its port at the other end. */
  connection: number;
}

/** What a receiver does with a call: answer a status, or anything by hand. */
export type Behaviour = (call: ReceivedCall, response: ServerResponse) => number | void | Promise<number | void>;

/** A customer's webhook for specs: a real HTTP server on loopback that remembers the calls it received. */
export class TestReceiver {
  readonly calls: ReceivedCall[] = [];
  behaviour: Behaviour = () => 200;
  readonly #server: Server;
  readonly #watchers = new Set<() => void>();

  private constructor(private readonly protocol: 'http' | 'https') {
    const listener: RequestListener = (request, response) => void this.#receive(request, response);
    this.#server = protocol === 'http' ? createServer(listener) : createTlsServer(SELF_SIGNED, listener);
  }

  /** @param protocol https: with a certificate that nobody trusts */
  static async open(port = 0, protocol: 'http' | 'https' = 'http'): Promise<TestReceiver> {
    const receiver = new TestReceiver(protocol);
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `${this.protocol}://127.0.0.1:${this.port}/hook`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Numbers of the events in the order of the calls. */
  get numbers(): number[] {
    return this.calls.map((call) => call.number);
  }

  /** Resolves once `count` calls have arrived. */
  async received(count: number): Promise<ReceivedCall[]> {
    await this.until(() => this.calls.length >= count);
    return this.calls;
  }

  /** Resolves once the condition holds; looked at after every call. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const watch = (): void => {
        if (!condition()) return;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ReceivedCall['body'];
    const { method = '', url: path = '', headers } = request;
    const call: ReceivedCall = {
      method,
      path,
      headers,
      body,
      number: numberOf(body),
      atMs: performance.now(),
      connection: request.socket.remotePort ?? 0,
    };
    this.calls.push(call);
    this.#watchers.forEach((watch) => watch());
    const status = await this.behaviour(call, response);
    if (typeof status === 'number') response.writeHead(status).end('{}');
  }
}

function numberOf(body: Record<string, unknown>): number {
  const list = body['messages'] ?? body['statuses'];
  const [first] = Array.isArray(list) ? (list as { number?: number }[]) : [];
  return first?.number ?? NaN;
}
