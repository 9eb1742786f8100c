import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const SWEEP_MS = 250;
/** For the rest of a request's headers, once the server no longer listens. */
const HEADERS_WITHIN_MS = 2_000;

/**
 * The connections of a server on which no request is under way. Node's own list of them lacks those on which nothing has been sent
 * yet (browsers and load balancers open some in advance) and those whose client stopped in the middle of a request's headers:
 * the end of the process would wait for them.
 */
export class IdleConnections {
  /** Requests under way by connection. */
  readonly #open = new Map<Socket, number>();

  /** @param server one that does not listen yet: what was accepted before is not known here */
  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.#open.set(socket, 0);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
  }

  /**
   * Waits for the end of the server, which comes once every request under way is answered and every connection, which may have been
   * kept, is closed: ends those that are idle or become so. While the server still listens they are left to their clients.
   * @param ended settles when the server has ended @throws what `ended` rejects with
   */
  async closeUntil(ended: Promise<unknown>): Promise<void> {
    let closedAtMs = Infinity;
    const sweep = setInterval(() => {
      if (this.server.listening) return;
      closedAtMs = Math.min(closedAtMs, performance.now());
      this.#close(performance.now() - closedAtMs > HEADERS_WITHIN_MS);
    }, SWEEP_MS);
    try {
      await ended;
    } finally {
      clearInterval(sweep);
    }
  }

  #count(socket: Socket, change: 1 | -1): void {
    const underWay = this.#open.get(socket);
    if (underWay !== undefined) this.#open.set(socket, underWay + change);
  }

  /** @param isLate also those on which a part of a request's headers has arrived */
  #close(isLate: boolean): void {
    this.server.closeIdleConnections();
    for (const [socket, underWay] of this.#open) {
      if (socket.bytesRead === 0 || (isLate && underWay === 0)) socket.destroy();
    }
  }
}
