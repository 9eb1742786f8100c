import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook that accepts everything at once and records when it received what. */
export class Receiver {
  readonly receivedAtMs = new Map<string, number>();
  readonly sequences = new Map<string, number[]>();
  private watcher: (() => void) | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(200).end();
        receiver.record(Buffer.concat(chunks).toString(), Number(request.headers['webhook-sequence']));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Resolves when this number of different texts has been received. */
  async received(count: number): Promise<void> {
    while (this.receivedAtMs.size < count) await new Promise<void>((resolve) => (this.watcher = resolve));
  }

  forget(): void {
    this.receivedAtMs.clear();
    this.sequences.clear();
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private record(text: string, sequence: number): void {
    const body = JSON.parse(text) as { channel_id: string; messages?: { id: string; text?: { body: string } }[] };
    const [message] = body.messages ?? [];
    const name = message?.text?.body ?? message?.id ?? '';
    if (!this.receivedAtMs.has(name)) this.receivedAtMs.set(name, performance.now());
    this.sequences.set(body.channel_id, [...(this.sequences.get(body.channel_id)?.slice(-1) ?? []), sequence]);
    const [before = 0, now = 0] = this.sequences.get(body.channel_id) ?? [];
    if (now !== 0 && now < before) throw new Error(`out of order: ${now} after ${before}`);
    this.watcher?.();
  }
}
