import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A door to Redis that can be shut: connections drop and new ones are refused. */
export async function openDoor(redisUrl: string) {
  const { hostname, port, pathname } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  const deaf = new WeakSet<Socket>();
  let muted = false;
  let scripts = 0;
  const server: Server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far);
    near.on('data', (chunk: Buffer) => (scripts += chunk.toString('latin1').split('evalsha').length - 1));
    far.on('data', (chunk: Buffer) => muted || deaf.has(near) || near.write(chunk));
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (near.destroy(), far.destroy(), sockets.delete(socket)));
    }
  });
  const listen = async (at: number) => (server.listen(at, '127.0.0.1'), once(server, 'listening'));
  await listen(0);
  const address = server.address();
  const doorPort = typeof address === 'object' && address ? address.port : 0;
  const shut = async () => {
    const closed = once(server, 'close');
    server.close();
    sockets.forEach((socket) => socket.destroy());
    await closed;
  };
  return {
    url: `redis://127.0.0.1:${doorPort}${pathname}`,
    shut,
    open: () => {
      muted = false;
      return listen(doorPort);
    },
    /** How many scripts were asked for through it so far. */
    scripts: () => scripts,
    /** The connections that are open hear no answers any more, and are not told. */
    deafen: () => sockets.forEach((socket) => deaf.add(socket)),
    /** What is said to Redis still reaches it; its answers are lost. */
    mute: () => (muted = true),
  };
}
