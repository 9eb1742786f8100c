import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server on which no request is under way. Node's own list of them lacks those on which nothing has been sent
 * yet: clients and load balancers open some in advance, and the end of the process would wait for them.
 */
export class IdleConnections {
  readonly #open = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Ends them. */
  close(): void {
    this.server.closeIdleConnections();
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}
