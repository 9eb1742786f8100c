import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * The way of an app to a server, through a port of its own, that can be interrupted in the ways a network is: cut for a
 * moment, refused until it is mended, or silent, when what was sent is neither delivered nor reported.
 */
export class Wire {
  private way: 'open' | 'refused' | 'held' = 'open';
  private readonly ends = new Set<Socket>();

  private constructor(
    private readonly target: URL,
    private readonly server: Server,
  ) {
    server.on('connection', (near: Socket) => this.join(near));
  }

  /** @param target address of the server, with a port */
  static async to(target: string): Promise<Wire> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Wire(new URL(target), server);
  }

  /** The server's address by this way. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Ends every connection; new ones pass. */
  cut(): void {
    for (const end of this.ends) end.resetAndDestroy();
  }

  /** Ends every connection and lets none be made. */
  refuse(): void {
    this.way = 'refused';
    this.cut();
  }

  /** Nothing passes any more and nobody is told: connections stay, new ones are taken and stay silent, too. */
  hold(): void {
    this.way = 'held';
    for (const end of this.ends) end.pause();
  }

  /** What was held goes on, new connections pass. */
  mend(): void {
    this.way = 'open';
    for (const end of this.ends) end.resume();
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }

  private join(near: Socket): void {
    near.on('error', () => undefined);
    if (this.way === 'refused') return void near.resetAndDestroy();
    const far = connect({ host: this.target.hostname, port: Number(this.target.port), allowHalfOpen: true });
    far.on('error', () => undefined);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.ends.add(from);
      from.on('data', (chunk: Buffer) => {
        // While held, nothing is read; and what the other side is slow to take is not read either.
        if (to.write(chunk)) return;
        from.pause();
        to.once('drain', () => this.way !== 'held' && from.resume());
      });
      from.once('end', () => to.end());
      from.once('close', () => {
        this.ends.delete(from);
        to.destroy();
      });
      if (this.way === 'held') from.pause();
    }
  }
}
