import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { closeRedis, EvictingRedisError, openRedis, requireNoEviction, type Redis } from './index.js';

const real = new URL(process.env.TEST_REDIS_URL ?? '');
/** As long as the one it replaces: a reply says how long it is. */
const POLICY = 'allkeys-lx';

/** The way to the real server, on which another policy is told. */
function evictingServer(): Server {
  return createServer((client) => {
    const server = connect(Number(real.port), real.hostname);
    client.pipe(server);
    server.on('data', (bytes) => {
      client.write(bytes.toString('latin1').replace('policy:noeviction', `policy:${POLICY}`), 'latin1');
    });
    client.on('close', () => server.destroy()).on('error', () => undefined);
    server.on('close', () => client.destroy()).on('error', () => undefined);
  });
}

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a Redis that evicts keys', () => {
  const opened: Redis[] = [];
  const servers: Server[] = [];
  const open = (port: number | string) => {
    const url = new URL(real);
    url.port = String(port);
    const redis = openRedis({ url: url.href, name: 'eviction-spec', whenAway: 'fail' });
    opened.push(redis);
    return redis;
  };
  const evicting = (): Server => {
    const server = evictingServer();
    servers.push(server);
    return server;
  };
  const noLog = { warn: () => undefined };

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(closeRedis));
    for (const server of servers.splice(0)) server.close();
  });

  it('is refused at the start, with what to change; one that does not is taken', async () => {
    await requireNoEviction(open(real.port), 'region sg', noLog);
    const refused = requireNoEviction(open(await listen(evicting())), 'region sg', noLog);
    await expect(refused).rejects.toBeInstanceOf(EvictingRedisError);
    await expect(refused).rejects.toThrow(
      /^the Redis of region sg evicts .*\(maxmemory-policy allkeys-lx\).* set its maxmemory-policy to noeviction$/,
    );
  });

  it('does not hold up a start while it is away, and is logged once it is there', async () => {
    const away = createServer();
    const port = await listen(away);
    away.close();
    await once(away, 'close');
    const reasons: string[] = [];
    const logged = new Promise<void>((resolve) => {
      const warn = (facts: object): void => {
        reasons.push(JSON.stringify(facts));
        resolve();
      };
      void requireNoEviction(open(port), 'region eu', { warn }).then(() => listen(evicting(), port));
    });
    await logged;
    expect(reasons.join()).toContain('the Redis of region eu evicts');
  });
});
