import type { FastifyInstance } from 'fastify';
import type { Network } from '../network/network.js';

/** Who is and was logged in. */
export function connectionRoutes(app: FastifyInstance, network: Network): void {
  app.get('/connections', () => {
    const { connections } = network;
    return {
      open: connections.open(),
      opened: connections.opened,
      overlaps: connections.overlaps,
      log: connections.log,
    };
  });
}
