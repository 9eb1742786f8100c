import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const SWEEP_MS = 250;

/**
 * The connections of a server on which no request is under way. Node's own list of them lacks those on which nothing has been sent
 * yet: browsers and load balancers open some in advance, and the end of the process would wait for them.
 */
export class IdleConnections {
  readonly #open = new Set<Socket>();

  /** @param server one that does not listen yet: what was accepted before is not known here */
  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /**
   * Waits for the end of the server, which comes once every request under way is answered and every connection, which may have been
   * kept, is closed: ends those that are idle or become so. While the server still listens they are left to their clients.
   * @param ended settles when the server has ended @throws what `ended` rejects with
   */
  async closeUntil(ended: Promise<unknown>): Promise<void> {
    const sweep = setInterval(() => this.#close(), SWEEP_MS);
    try {
      await ended;
    } finally {
      clearInterval(sweep);
    }
  }

  #close(): void {
    if (this.server.listening) return;
    this.server.closeIdleConnections();
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}
