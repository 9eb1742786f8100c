import type { IncomingMessage } from 'node:http';
import {
  answerBrokenRequests,
  headerFault,
  NestLog,
  requestIdFrom,
  acceptEveryExpectation,
  type Logger,
} from '@dormouse/bootstrap';
import { errorAnswer, GatewayError, type Site } from '@dormouse/gateway-contract';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { guardAccess, type AccessServices } from './access/access-chain.js';
import { allowOrigins, originHeaders, type AllowedOrigins } from './access/cross-origin.js';
import { AppModule, type AppServices } from './app.module.js';
import { readBodies } from './body/bodies.js';
import { pathIds } from './body/path-ids.js';
import { cleanUrl } from './clean-path.js';
import { ErrorEnvelopeFilter } from './errors/error-envelope.filter.js';
import { logRequests } from './request-log.js';

/** Longer than load balancers keep an idle connection (usually 60 s), so that they, not we, close it. */
const KEEP_ALIVE_MS = 65_000;
/** Timeout of a request's arrival. Uploads take longest. */
const ARRIVES_WITHIN_MS = 300_000;
/** Ids are looked up whatever they look like: longer than any request line that Node reads (16 KiB). */
const MAX_ID_LENGTH = 65_536;

export interface AppSettings {
  services: AppServices;
  access: AccessServices;
  allowedOrigins: AllowedOrigins;
  /** Addresses whose `X-Forwarded-For` is believed; undefined: none. */
  trustedProxies?: string[] | undefined;
  site: Site;
  log: Logger;
}

/** The Nest application, complete but not listening. */
export async function createApp(settings: AppSettings): Promise<NestFastifyApplication> {
  const { services, access, allowedOrigins, trustedProxies, site, log } = settings;
  const broken = answerBrokenRequests({
    answerTo: ({ status, details }) => {
      const answer = errorAnswer(new GatewayError(status, { details }), site);
      return { ...answer, headers: { ...answer.headers, ...originHeaders(allowedOrigins, undefined) } };
    },
    log,
  });
  const adapter = new FastifyAdapter({
    rewriteUrl: ({ url = '/' }) => cleanUrl(url),
    routerOptions: { maxParamLength: MAX_ID_LENGTH },
    // HEAD is not on the list: an automatic one would answer an existence check wrongly.
    exposeHeadRoutes: false,
    genReqId: ({ headers }: Pick<IncomingMessage, 'headers'>) => requestIdFrom(headers['x-request-id']),
    requestIdHeader: false,
    bodyLimit: access.maxJsonBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: ARRIVES_WITHIN_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    ...broken,
    ...(trustedProxies && { trustProxy: trustedProxies }),
    skipMiddie: true,
  });
  const fastify = adapter.getInstance();
  logRequests(fastify, { log, probes: access.probes });
  acceptEveryExpectation(fastify.server);
  allowOrigins(fastify, allowedOrigins);
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = headerFault(raw);
    done(fault && new GatewayError(fault.status, fault));
  });
  guardAccess(fastify, access);
  readBodies(fastify, access);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.serving(services), adapter, {
    logger: new NestLog(log),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalPipes(pathIds);
  app.useGlobalFilters(new ErrorEnvelopeFilter(site, log));
  return app;
}
