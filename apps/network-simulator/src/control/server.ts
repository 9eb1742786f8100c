import fastify, { type FastifyInstance } from 'fastify';
import { z, ZodError } from 'zod';
import type { Phones } from '../phones/phones.js';
import { onePort, type OnePort } from '../serve/one-port.js';
import type { TlsIdentity } from '../serve/self-signed.js';
import { Refusal } from '../network/refusal.js';
import { connectionRoutes } from './connections.routes.js';
import { docsRoutes } from './docs.routes.js';
import { streamRoutes } from './stream.routes.js';
import { pageRoutes } from '../page/page.routes.js';
import { faultRoutes } from './faults.routes.js';
import { groupRoutes } from './groups.routes.js';
import { mediaRoutes } from './media.routes.js';
import { messageRoutes } from './messages.routes.js';
import { networkRoutes } from './network.routes.js';
import { chatRoutes, profileRoutes } from './profile.routes.js';
import { rawRoutes } from './raw.routes.js';
import { phoneRoutes } from './phones.routes.js';
import type { WaitingLogins } from './waiting-logins.js';

const MAX_BODY_BYTES = 100 * 1024 * 1024;

/** What clients must be pointed at. */
export interface NetworkAddress {
  socketUrl: string;
  rootKey: string;
}

/** The control API. Every error is `{"error": "a sentence"}` with a 4xx or 5xx status. */
export async function controlServer(
  phones: Phones,
  tls: TlsIdentity,
  waitingLogins: WaitingLogins,
  address: () => NetworkAddress,
): Promise<{ app: FastifyInstance; port: OnePort; routes: readonly string[] }> {
  const { network } = phones;
  let port: OnePort | undefined;
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handler) => {
      port = onePort(handler, tls);
      return port.http;
    },
  });
  if (!port) throw new Error('The server was not made.');
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') routes.push(`${one} ${url}`);
  });
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof Refusal) return reply.status(error.code).send({ error: error.text });
    if (error instanceof ZodError) {
      const [issue] = error.issues;
      const where = issue?.path.join('.');
      return reply
        .status(400)
        .send({ error: where ? `${where}: ${issue?.message}` : (issue?.message ?? 'Bad request.') });
    }
    const status = statusOf(error);
    if (status >= 500) network.log.error({ reason: String(error) }, 'a control request failed');
    return reply.status(status).send({ error: error instanceof Error ? error.message : 'Something failed.' });
  });
  app.setNotFoundHandler((_request, reply) => reply.status(404).send({ error: 'There is nothing at this address.' }));
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  // Whatever is done at a phone counts as its use: the network logs out the devices of phones that nobody uses.
  app.addHook('preHandler', ({ method, params }, _reply, done) => {
    const { phone } = z.object({ phone: z.string().optional() }).catch({}).parse(params);
    const account =
      method === 'GET' || phone === undefined ? undefined : network.accounts.byNumber(phone.replace(/\D/g, ''));
    if (account) account.state.phoneUsedAtMs = network.now();
    done();
  });
  app.get('/health', () => ({ ok: true }));
  app.get('/network', address);
  app.get('/usage', (request) => {
    // Only a process that was started for measuring collects its garbage on request.
    if ((request.query as { collect?: string }).collect !== undefined) globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return { rssBytes: rss, heapBytes: heapUsed, cpuMs: (user + system) / 1000, phones: network.accounts.size };
  });
  app.get('/certificate', (_request, reply) => reply.type('application/x-pem-file').send(tls.certificate));
  await app.register((scope) => phoneRoutes(scope, phones, waitingLogins));
  await app.register((scope) => docsRoutes(scope, () => `http://${network.mediaHost()}`));
  await app.register((scope) => streamRoutes(scope, phones));
  await app.register((scope) => pageRoutes(scope));
  await app.register((scope) => profileRoutes(scope, phones));
  await app.register((scope) => chatRoutes(scope, phones));
  await app.register((scope) => messageRoutes(scope, phones));
  await app.register((scope) => mediaRoutes(scope, network));
  await app.register((scope) => groupRoutes(scope, phones));
  await app.register((scope) => networkRoutes(scope, phones));
  await app.register((scope) => rawRoutes(scope, phones));
  await app.register((scope) => faultRoutes(scope, network));
  await app.register((scope) => connectionRoutes(scope, network));
  return { app, port, routes };
}

function statusOf(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return 500;
}
