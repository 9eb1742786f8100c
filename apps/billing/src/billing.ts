import { measureConnections, NestLog, OpenedParts, Probes, type Logger, type RunningServer } from '@dormouse/bootstrap';
import { openGlobalDatabase, requireMigrations } from '@dormouse/database';
import type { FrameworkErrors, Site } from '@dormouse/gateway-contract';
import { ErrorEnvelopeFilter, openHttpAdapter, pathIds, serveApp } from '@dormouse/http-server';
import { closeRedis, openRedis, requireNoEviction } from '@dormouse/redis';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type Services } from './app.module.js';
import type { BillingConfig } from './config.js';
import { readBodies } from './http/bodies.js';
import { Regions } from './regions/regions.js';
import { measureStandings } from './standings/standing-metrics.js';

/** Events of Stripe are tens of kilobytes. */
const MAX_BODY_BYTES = 1_048_576;
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FRAMEWORK_ERRORS: FrameworkErrors = {
  404: { status: 404, details: 'there is no such endpoint' },
  413: { status: 413, message: 'request body too large' },
  502: { status: 502, message: 'the request could not be carried out' },
};

/** The Nest application, complete but not listening. */
export async function createApp(
  services: Services,
  { site, probes, trustedProxies = [] }: { site: Site; probes: Probes; trustedProxies?: string[] },
): Promise<NestFastifyApplication> {
  const adapter = openHttpAdapter({
    site,
    log: services.log,
    probes,
    trustedProxies,
    bucketsS: BUCKETS_S,
    callerOf: () => ({}),
    fastify: { bodyLimit: MAX_BODY_BYTES, routerOptions: { maxParamLength: 1_024 } },
  });
  readBodies(adapter.getInstance());
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(services), adapter, {
    logger: new NestLog(services.log),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalPipes(pathIds);
  app.useGlobalFilters(new ErrorEnvelopeFilter(site, services.log, FRAMEWORK_ERRORS));
  measureStandings(probes.metrics, services);
  return app;
}

/**
 * Opens everything and listens. It starts without any of its databases, without Redis and without Stripe, too.
 * @param nowMs clock in epoch milliseconds
 * @throws {RegionMismatchError} when an entry of `REGIONS` leads to another region's database
 */
export function openBilling(
  config: BillingConfig,
  log: Logger,
  nowMs: () => number = Date.now,
): Promise<RunningServer> {
  return OpenedParts.of(async (parts) => {
    const database = parts.add(openGlobalDatabase({ ...config.globalDatabase, applicationName: 'billing' }), (opened) =>
      opened.close(),
    );
    const regions = parts.add(new Regions(config.regions, config.regionConnections), (opened) => opened.close());
    const redis = parts.add(openRedis({ url: config.redisUrl, name: 'billing', log }), closeRedis);
    const isReachable = async (): Promise<boolean> => (await database.pool.query('SELECT 1')).rowCount === 1;
    // Only the global database decides readiness: without a region, Redis or Stripe, what is stored can still be read.
    const probes = new Probes({ app: 'billing', checks: { database: isReachable } });
    measureConnections(probes.metrics, {
      databases: { global: database.pool, ...regions.pools() },
      redis: { jobs: redis },
    });
    await Promise.all([
      requireMigrations(database.pool, 'global'),
      regions.check(),
      requireNoEviction(redis, 'REDIS_URL', log),
    ]);
    const { rules, regionPollMs, secret, stripe, listen, probes: probeListen } = config;
    const app = await createApp(
      { database, redis, regions, rules, regionPollMs, secret, stripe, nowMs, metrics: probes.metrics, log },
      { site: config.site, trustedProxies: config.trustedProxies, probes },
    );
    return serveApp(app, { listen, probes, probeListen, parts });
  });
}
