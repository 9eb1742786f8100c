import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const ACCEPTED = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const END_OF_HEADERS = Buffer.from('\r\n\r\n');

/**
 * A webhook that accepts everything at once and records when it received what. It reads HTTP no further than it must: on a
 * machine that it shares with what it measures, what it uses itself is taken from that.
 */
export class Receiver {
  readonly receivedAtMs = new Map<string, number>();
  private readonly lastSequences = new Map<string, number>();
  private readonly connections = new Set<Socket>();
  private watcher: { count: number; resolve: () => void } | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer({ noDelay: true });
    const receiver = new Receiver(server);
    server.on('connection', (socket) => receiver.serve(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Resolves when this number of different texts has been received. */
  async received(count: number): Promise<void> {
    if (this.receivedAtMs.size >= count) return;
    await new Promise<void>((resolve) => (this.watcher = { count, resolve }));
  }

  forget(): void {
    this.receivedAtMs.clear();
    this.lastSequences.clear();
  }

  close(): void {
    for (const socket of this.connections) socket.destroy();
    this.server.close();
  }

  private serve(socket: Socket): void {
    let unread: Buffer | undefined;
    this.connections.add(socket);
    socket.on('close', () => this.connections.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      unread = unread ? Buffer.concat([unread, chunk]) : chunk;
      for (let length = requestLength(unread); length <= unread.length; length = requestLength(unread)) {
        const request = unread.subarray(0, length);
        unread = unread.subarray(length);
        socket.write(ACCEPTED);
        this.record(request);
      }
    });
  }

  private record(request: Buffer): void {
    const atMs = performance.now();
    const bodyAt = request.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
    const sequence = Number(fieldOf(request.toString('latin1', 0, bodyAt), 'webhook-sequence'));
    const body = JSON.parse(request.toString('utf8', bodyAt)) as {
      channel_id: string;
      messages?: { id: string; text?: { body: string } }[];
    };
    const [message] = body.messages ?? [];
    const name = message?.text?.body ?? message?.id ?? '';
    if (!this.receivedAtMs.has(name)) this.receivedAtMs.set(name, atMs);
    const before = this.lastSequences.get(body.channel_id) ?? 0;
    if (sequence < before) throw new Error(`out of order: ${sequence} after ${before}`);
    this.lastSequences.set(body.channel_id, sequence);
    if (this.watcher && this.receivedAtMs.size >= this.watcher.count) this.watcher.resolve();
  }
}

/** Bytes of the first request, headers and body; Infinity as long as its headers are not complete. */
function requestLength(bytes: Buffer): number {
  const headersEnd = bytes.indexOf(END_OF_HEADERS);
  if (headersEnd === -1) return Infinity;
  const length = fieldOf(bytes.toString('latin1', 0, headersEnd + END_OF_HEADERS.length), 'content-length');
  return headersEnd + END_OF_HEADERS.length + Number(length);
}

function fieldOf(given: string, name: string): string {
  const headers = given.toLowerCase();
  const at = headers.indexOf(`\r\n${name}:`);
  return at === -1 ? '0' : headers.slice(at + name.length + 3, headers.indexOf('\r\n', at + 2)).trim();
}
