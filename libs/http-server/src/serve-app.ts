import { openProbeServer, type OpenedParts, type Probes, type RunningServer } from '@dormouse/bootstrap';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdleConnections } from './idle-connections.js';

export interface ServeTerms {
  listen: { port: number; host: string };
  probes: Probes;
  /** Where probes are answered. */
  probeListen: { port: number; host: string };
  /** What the application needs; it is closed after the application. */
  parts: OpenedParts;
}

/**
 * Listens, and answers probes at a port of their own, until everything else is closed. A drain waits for requests under way, and for
 * no connection without one.
 * @throws when a port is taken
 */
export async function serveApp(
  app: NestFastifyApplication,
  { listen, probes, probeListen, parts }: ServeTerms,
): Promise<RunningServer> {
  const idleConnections = new IdleConnections(app.getHttpServer());
  parts.add(app, (one) => idleConnections.closeUntil(one.close()));
  await app.listen(listen.port, listen.host);
  const probeServer = await openProbeServer({ probes, ...probeListen });
  return {
    url: (await app.getUrl()).replace('[::1]', '127.0.0.1').replace('0.0.0.0', '127.0.0.1'),
    drain: async () => {
      probes.startDraining();
      try {
        await parts.close();
      } finally {
        await probeServer.close();
      }
    },
  };
}
