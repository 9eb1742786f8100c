import { createServer } from 'node:net';

/** Asks the system for a port on the loopback address, or checks that the wanted one is free. */
export async function freePort(wanted = 0): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}

/**
 * The first of the preferred ports that is free, else any free port.
 * @throws when the system gives none
 */
export async function choosePort(...preferred: (number | undefined)[]): Promise<number> {
  for (const wanted of preferred) {
    const port = wanted === undefined ? undefined : await freePort(wanted);
    if (port !== undefined) return port;
  }
  const port = await freePort();
  if (port === undefined) throw new Error('No free port on 127.0.0.1.');
  return port;
}
