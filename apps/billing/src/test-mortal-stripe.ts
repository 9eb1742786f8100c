import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unending } from './test-mortal.js';

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** The way to Stripe of a process that may die at a call: before it reaches Stripe, or after, with the answer lost. */
export class MortalStripe {
  life = unending();
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('request', (given: IncomingMessage, response: ServerResponse) => void this.#pass(given, response));
  }

  static async to(url: string): Promise<MortalStripe> {
    const server = createServer();
    const stripe = new MortalStripe(server, new URL(url));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stripe;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async #pass(given: IncomingMessage, response: ServerResponse): Promise<void> {
    const { life } = this;
    const chunks: Buffer[] = [];
    for await (const chunk of given) chunks.push(chunk as Buffer);
    const name = `${given.method ?? ''} ${pathOf(given.url ?? '')}`;
    try {
      const { status, headers, body } = await life.spend(name, () => this.#forward(given, Buffer.concat(chunks)));
      response.writeHead(status, headers).end(body);
    } catch {
      // The dead have no client that waits to try again.
      if (!life.isOver) response.destroy();
      else response.writeHead(500, { 'stripe-should-retry': 'false' }).end('{"error":{"type":"api_error"}}');
    }
  }

  async #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const { hostname, port } = this.target;
    const forwarded = request({ hostname, port, method, path: url, headers, agent: this.#agent });
    forwarded.end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode ?? 500, headers: answer.headers, body: Buffer.concat(chunks) };
  }
}

/** Without its query, and with ids taken out. */
function pathOf(url: string): string {
  return (url.split('?', 1)[0] ?? '').replace(/\/(cus|sub|in|cs|bpc|re|pi)_[A-Za-z0-9_]+/g, '/:id');
}
