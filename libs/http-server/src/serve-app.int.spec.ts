import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { openLog, OpenedParts, Probes, type RunningServer } from '@dormouse/bootstrap';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { openHttpAdapter } from './http-adapter.js';
import { serveApp } from './serve-app.js';

const ANY_PORT = { port: 0, host: '127.0.0.1' };

@Module({})
class EmptyModule {}

describe('a drain of serveApp', () => {
  let server: RunningServer;
  /** Lets the request for /slow be answered, which has arrived when `arrived` resolves. */
  let answer: () => void;
  let arrived: Promise<void>;

  beforeEach(async () => {
    const probes = new Probes({ app: 'spec', checks: {} });
    const adapter = openHttpAdapter({
      site: { docsUrl: 'https://docs.test', supportAddress: 'help@test' },
      log: openLog({ name: 'spec', level: 'silent' }),
      probes,
      trustedProxies: [],
      bucketsS: [1],
      callerOf: () => ({}),
      fastify: {},
    });
    const answered = new Promise<void>((resolve) => (answer = resolve));
    arrived = new Promise((resolve) => {
      adapter.getInstance().get('/slow', async () => {
        resolve();
        await answered;
        return 'answered';
      });
    });
    adapter.getInstance().get('/quick', () => 'answered');
    const app = await NestFactory.create<NestFastifyApplication>(EmptyModule, adapter, { logger: false });
    server = await serveApp(app, { listen: ANY_PORT, probes, probeListen: ANY_PORT, parts: new OpenedParts() });
  });

  const address = (path: string): string => `${server.url ?? ''}${path}`;
  const bodyOf = async (path: string, agent?: Agent): Promise<string> => {
    const [response] = (await once(get(address(path), { agent }), 'response')) as [IncomingMessage];
    return text(response);
  };
  /** A connection on which nothing is sent; the server has accepted it. */
  const openInAdvance = async (): Promise<Socket> => {
    const { hostname, port } = new URL(address('/'));
    const early = connect(Number(port), hostname);
    early.on('error', () => undefined).resume();
    await once(early, 'connect');
    expect(await bodyOf('/quick')).toBe('answered'); // what came before it has been accepted
    return early;
  };

  it('ends while clients hold connections on which nothing was sent yet', async () => {
    const ended = once(await openInAdvance(), 'close');
    await server.drain();
    await ended;
  });

  it('ends soon while a client has stopped in the middle of the headers of a request', async () => {
    const early = await openInAdvance();
    early.write('GET /quick HTTP/1.1\r\nHost: here\r\n');
    expect(await bodyOf('/quick')).toBe('answered');
    const ended = once(early, 'close');
    await server.drain();
    await ended;
  });

  it('answers what is under way first, and then ends its connection, which its client keeps', async () => {
    const agent = new Agent({ keepAlive: true });
    const ended = once(await openInAdvance(), 'close');
    const underWay = bodyOf('/slow', agent);
    await arrived;
    const drained = server.drain();
    await ended;
    answer();
    expect(await underWay).toBe('answered');
    await drained;
    agent.destroy();
  });
});
