import { createServer, type AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { AddressRefused, guardedConnection, guardedConnector, type AddressGuardOptions } from './address-guard.js';

describe('guarded connections', () => {
  /** A server on this machine that must not be reached; how many connections it got. */
  async function withServer(use: (port: number, connections: () => number) => Promise<void>): Promise<void> {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await use((server.address() as AddressInfo).port, () => connections);
    } finally {
      server.close();
    }
  }

  it.each(['127.0.0.1', '[::ffff:127.0.0.1]', '[::1]'])('never open to the literal %s', async (host) => {
    await withServer(async (port, connections) => {
      const dispatcher = new Agent({ connect: guardedConnector() });
      await expect(request(`http://${host}:${port}/`, { dispatcher })).rejects.toBeInstanceOf(AddressRefused);
      await expect(guardedConnection({ host, port })).rejects.toBeInstanceOf(AddressRefused);
      expect(connections()).toBe(0);
      await dispatcher.destroy();
    });
  });

  it('never open to a name that leads inside', async () => {
    await withServer(async (port, connections) => {
      const lookup: AddressGuardOptions['lookup'] = (_hostname, _options, callback) =>
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      const dispatcher = new Agent({ connect: guardedConnector({ lookup }) });
      await expect(request(`http://hooks.example:${port}/`, { dispatcher })).rejects.toBeInstanceOf(AddressRefused);
      await expect(guardedConnection({ host: 'hooks.example', port }, { lookup })).rejects.toBeInstanceOf(
        AddressRefused,
      );
      expect(connections()).toBe(0);
      await dispatcher.destroy();
    });
  });

  it('open in development', async () => {
    await withServer(async (port) => {
      const socket = await guardedConnection({ host: 'localhost', port }, { allowLoopback: true });
      expect(socket.remotePort).toBe(port);
      socket.destroy();
    });
  });
});
