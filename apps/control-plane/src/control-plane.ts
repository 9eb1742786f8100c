import type { IncomingMessage } from 'node:http';
import {
  answerBrokenRequests,
  headerFault,
  measureConnections,
  NestLog,
  openProbeServer,
  Probes,
  requestIdFrom,
  acceptEveryExpectation,
  type Logger,
  type RunningServer,
} from '@dormouse/bootstrap';
import { ChannelSeals } from '@dormouse/channel-directory';
import { openGlobalDatabase } from '@dormouse/database';
import { errorAnswer, GatewayError, type Site } from '@dormouse/gateway-contract';
import { MANAGEMENT_PREFIX } from '@dormouse/management-contract';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type Services } from './app.module.js';
import type { ControlPlaneConfig } from './config.js';
import { ErrorEnvelopeFilter } from './errors/error-envelope.filter.js';
import { readJsonBodies } from './http/json-body.js';
import { pathIds } from './http/path-ids.js';
import { Fleet } from './fleet/fleet.js';
import { measureFleet } from './fleet/fleet-metrics.js';
import { answerLiveness, logRequests } from './http/request-log.js';
import { OperatorKeys } from './operators/operator-keys.js';
import { Regions } from './regions/regions.js';

const MAX_BODY_BYTES = 65_536;
/** Longer than load balancers keep an idle connection open, so that they close it, and never while a request is on its way. */
const KEEP_ALIVE_MS = 65_000;

/** The Nest application, complete but not listening. */
export async function createApp(
  services: Services,
  { site, probes, trustedProxies = [] }: { site: Site; probes: Probes; trustedProxies?: string[] },
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 1_024 },
    genReqId: ({ headers }: Pick<IncomingMessage, 'headers'>) => requestIdFrom(headers['x-request-id']),
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    skipMiddie: true,
    ...answerBrokenRequests({
      answerTo: ({ status, details }) => errorAnswer(new GatewayError(status, { details }), site),
      log: services.log,
    }),
  });
  const fastify = adapter.getInstance();
  logRequests(fastify, { log: services.log, probes });
  acceptEveryExpectation(fastify.server);
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = headerFault(raw);
    done(fault && new GatewayError(fault.status, fault));
  });
  answerLiveness(fastify, probes);
  readJsonBodies(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(services), adapter, {
    logger: new NestLog(services.log),
    bodyParser: false,
    abortOnError: false,
  });
  app.setGlobalPrefix(MANAGEMENT_PREFIX);
  measureFleet(probes.metrics, app.get(Fleet));
  app.useGlobalPipes(pathIds);
  app.useGlobalFilters(new ErrorEnvelopeFilter(site, services.log));
  return app;
}

/**
 * Opens everything and listens. It starts without the global database and without the regions, too.
 * @throws {RegionMismatchError} when an entry of `REGIONS` leads to another region's database, or disagrees with it
 */
export async function openControlPlane(config: ControlPlaneConfig, log: Logger): Promise<RunningServer> {
  const database = openGlobalDatabase({ ...config.globalDatabase, applicationName: 'control-plane' });
  const regions = new Regions(config.regions, log, new ChannelSeals(config.settingsKeys));
  const operators = new OperatorKeys(config.operators);
  const isReachable = async (): Promise<boolean> => (await database.pool.query('SELECT 1')).rowCount === 1;
  // Only the global database decides readiness: without a region some requests are 503, and all others still work.
  const probes = new Probes({ app: 'control-plane', checks: { database: isReachable } });
  measureConnections(probes.metrics, { databases: { global: database.pool } });
  await regions.check({ settings: config.settingsKeys.keys });
  const app = await createApp(
    { database, regions, operators, limits: config.limits, log },
    { site: config.site, trustedProxies: config.trustedProxies, probes },
  );
  await app.listen(config.listen.port, config.listen.host);
  const probeServer = await openProbeServer({ probes, ...config.probes });
  return {
    url: (await app.getUrl()).replace('[::1]', '127.0.0.1').replace('0.0.0.0', '127.0.0.1'),
    drain: async () => {
      probes.startDraining();
      await app.close();
      await regions.close();
      await database.close();
      await probeServer.close();
    },
  };
}
