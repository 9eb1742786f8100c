import { NestLog, type Logger } from '@dormouse/bootstrap';
import type { Site } from '@dormouse/gateway-contract';
import { ErrorEnvelopeFilter, openHttpAdapter, pathIds } from '@dormouse/http-server';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { guardAccess, type AccessServices } from './access/access-chain.js';
import { allowOrigins, originHeaders, type AllowedOrigins } from './access/cross-origin.js';
import { AppModule, type AppServices } from './app.module.js';
import { readBodies } from './body/bodies.js';
import { cleanUrl } from './clean-path.js';

/** Of requests: from a stored read (milliseconds) to a send that waits for a wake. */
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45];
/** Timeout of a request's arrival. Uploads need longest. */
const ARRIVES_WITHIN_MS = 300_000;
/** Ids are looked up whatever they look like: longer than any request line that Node reads (16 KiB). */
const MAX_ID_LENGTH = 65_536;

export interface AppSettings {
  services: AppServices;
  access: AccessServices;
  allowedOrigins: AllowedOrigins;
  /** Addresses whose `X-Forwarded-For` is trusted; undefined: none. */
  trustedProxies?: string[] | undefined;
  site: Site;
  log: Logger;
}

/** The Nest application, complete but not listening. */
export async function createApp(settings: AppSettings): Promise<NestFastifyApplication> {
  const { services, access, allowedOrigins, trustedProxies, site, log } = settings;
  const adapter = openHttpAdapter({
    site,
    log,
    probes: access.probes,
    trustedProxies: trustedProxies ?? [],
    bucketsS: BUCKETS_S,
    callerOf: ({ channel }) => ({ channelId: channel?.id }),
    faultHeaders: () => originHeaders(allowedOrigins, undefined),
    beforeChecks: (fastify) => allowOrigins(fastify, allowedOrigins),
    fastify: {
      rewriteUrl: ({ url = '/' }) => cleanUrl(url),
      routerOptions: { maxParamLength: MAX_ID_LENGTH },
      // HEAD is not on the list: an automatic one would answer an existence check wrongly.
      exposeHeadRoutes: false,
      bodyLimit: access.maxJsonBytes,
      requestTimeout: ARRIVES_WITHIN_MS,
    },
  });
  const fastify = adapter.getInstance();
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
