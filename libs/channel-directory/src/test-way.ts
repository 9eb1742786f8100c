import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Type of a message of PostgreSQL and, behind it, its length. */
const HEADER_BYTES = 5;

/**
 * A way to PostgreSQL that can fall silent, be cut, hold answers back, or deliver like a pooler in transaction mode: a
 * client that has no query under way is connected to no server, and what is notified then is lost.
 */
export class Way {
  private readonly server: Server;
  private readonly ends = new Set<Socket>();
  private readonly held: (() => void)[] = [];
  private readonly answers = new EventEmitter();
  private holding = false;
  private isCut = false;

  private constructor(
    private readonly to: URL,
    private readonly deliver: 'all' | 'within transactions',
  ) {
    this.server = createServer((near) => this.join(near));
  }

  static async to(url: string, deliver: 'all' | 'within transactions' = 'all'): Promise<Way> {
    const way = new Way(new URL(url), deliver);
    await once(way.server.listen(0, '127.0.0.1'), 'listening');
    return way;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.to), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Nothing passes any more on what is connected now; what connects later is not touched. */
  silence(): void {
    for (const end of this.ends) end.removeAllListeners('data').pause();
    this.ends.clear();
  }

  /** Ends every connection, and refuses new ones until it is mended. */
  cut(): void {
    this.isCut = true;
    for (const end of this.ends) end.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  /** Keeps what the server says to itself. Resolves once it has said something: it has done what it was asked. */
  async holdAnswers(): Promise<void> {
    this.holding = true;
    await once(this.answers, 'held');
  }

  releaseAnswers(): void {
    this.holding = false;
    for (const pass of this.held.splice(0)) pass();
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private join(near: Socket): void {
    if (this.isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.to.port), this.to.hostname);
    let idle = false;
    let unread = Buffer.alloc(0);
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.ends.add(end);
      end.on('error', () => undefined);
      end.on('close', () => other.destroy());
    }
    near.on('data', (bytes) => {
      idle = false;
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      const passed: Buffer[] = [];
      while (unread.length >= HEADER_BYTES && unread.length > unread.readUInt32BE(1)) {
        const message = unread.subarray(0, unread.readUInt32BE(1) + 1);
        unread = unread.subarray(message.length);
        const type = String.fromCharCode(message[0] ?? 0);
        if (type === 'Z') idle = true;
        if (type === 'A' && idle && this.deliver === 'within transactions') continue;
        passed.push(message);
      }
      this.pass(near, Buffer.concat(passed));
    });
  }

  private pass(near: Socket, bytes: Buffer): void {
    if (!this.holding) {
      near.write(bytes);
      return;
    }
    this.held.push(() => near.write(bytes));
    this.answers.emit('held');
  }
}
