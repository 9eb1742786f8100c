import { measureConnections, NestLog, OpenedParts, Probes, type Logger, type RunningServer } from '@dormouse/bootstrap';
import { ChannelSeals } from '@dormouse/channel-directory';
import { openGlobalDatabase, requireMigrations } from '@dormouse/database';
import type { FrameworkErrors, Site } from '@dormouse/gateway-contract';
import { ErrorEnvelopeFilter, openHttpAdapter, pathIds, serveApp } from '@dormouse/http-server';
import { MANAGEMENT_PREFIX } from '@dormouse/management-contract';
import { closeRedis, openRedis, requireNoEviction } from '@dormouse/redis';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type Services } from './app.module.js';
import type { ControlPlaneConfig } from './config.js';
import { serveSite } from './documentation/serve-site.js';
import { readJsonBodies } from './http/json-body.js';
import { Fleet } from './fleet/fleet.js';
import { measureFleet } from './fleet/fleet-metrics.js';
import { takeAccountFromQuery } from './http/account-of-stream.js';
import { answerLiveness } from './http/liveness.js';
import { MemberRecipients } from './mail/member-recipients.js';
import { openSmtp } from './mail/smtp-transport.js';
import { OperatorKeys } from './operators/operator-keys.js';
import { DASHBOARD_FILES, serveDashboard } from './pages/dashboard.js';
import { Regions } from './regions/regions.js';

const MAX_BODY_BYTES = 65_536;
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FRAMEWORK_ERRORS: FrameworkErrors = {
  404: { status: 404, details: 'there is no such endpoint' },
  413: { status: 413, message: 'request body too large' },
  502: { status: 502, message: 'the request could not be carried out' },
};

/** The Nest application, complete but not listening. */
export async function createApp(
  services: Services,
  {
    site,
    probes,
    trustedProxies = [],
    dashboardFiles = DASHBOARD_FILES,
  }: { site: Site; probes: Probes; trustedProxies?: string[]; dashboardFiles?: string },
): Promise<NestFastifyApplication> {
  const adapter = openHttpAdapter({
    site,
    log: services.log,
    probes,
    trustedProxies,
    bucketsS: BUCKETS_S,
    callerOf: ({ account, operator }) => ({ accountId: account?.id, operator: operator?.name }),
    fastify: {
      routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 1_024 },
      bodyLimit: MAX_BODY_BYTES,
    },
  });
  const fastify = adapter.getInstance();
  answerLiveness(fastify, probes);
  readJsonBodies(fastify);
  takeAccountFromQuery(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(services), adapter, {
    logger: new NestLog(services.log),
    bodyParser: false,
    abortOnError: false,
  });
  app.setGlobalPrefix(MANAGEMENT_PREFIX);
  serveSite(fastify);
  serveDashboard(fastify, { files: dashboardFiles, gatewayUrls: gatewayUrlsOf(services) }, services.log);
  measureFleet(probes.metrics, app.get(Fleet));
  app.useGlobalPipes(pathIds);
  app.useGlobalFilters(new ErrorEnvelopeFilter(site, services.log, FRAMEWORK_ERRORS));
  return app;
}

/**
 * Opens everything and listens. It starts without the global database and without the regions, too.
 * @throws {RegionMismatchError} when an entry of `REGIONS` leads to another region's database, or disagrees with it
 * @throws {SchemaBehindError} when the global database lacks migrations of this version
 */
export function openControlPlane(config: ControlPlaneConfig, log: Logger): Promise<RunningServer> {
  return OpenedParts.of(async (parts) => {
    const database = parts.add(
      openGlobalDatabase({ ...config.globalDatabase, applicationName: 'control-plane' }),
      (opened) => opened.close(),
    );
    const seals = new ChannelSeals(config.settingsKeys);
    const regions = parts.add(new Regions(config.regions, log, seals), (opened) => opened.close());
    const operators = new OperatorKeys(config.operators);
    const isReachable = async (): Promise<boolean> => (await database.pool.query('SELECT 1')).rowCount === 1;
    // Only the global database decides readiness: without a region some requests are 503, and all others still work.
    const probes = new Probes({ app: 'control-plane', checks: { database: isReachable } });
    const redis = parts.add(openRedis({ url: config.redisUrl, name: 'control-plane:jobs', log }), closeRedis);
    measureConnections(probes.metrics, { databases: { global: database.pool }, redis: { jobs: redis } });
    await Promise.all([
      requireMigrations(database.pool, 'global'),
      regions.check({ settings: config.settingsKeys.keys }),
      requireNoEviction(redis, 'REDIS_URL', log),
    ]);
    const { smtpUrl, from } = config.mail;
    const transport =
      smtpUrl === undefined ? undefined : parts.add(openSmtp({ url: smtpUrl, from }), (opened) => opened.close());
    const recipients = new MemberRecipients(database);
    const mail = { transport, from, recipients, metrics: probes.metrics };
    const app = await createApp(
      {
        ...{ database, regions, operators, log },
        ...{ limits: config.limits, signIn: config.signIn, billing: config.billing, jobs: { redis, mail } },
        allowPrivateWebhooks: config.allowPrivateWebhooks,
        pages: pagesOf(config),
      },
      { site: config.site, trustedProxies: config.trustedProxies, probes },
    );
    return serveApp(app, { listen: config.listen, probes, probeListen: config.probes, parts });
  });
}

function gatewayUrlsOf({ pages }: Services): string[] {
  return [...(pages?.gatewayUrls?.values() ?? [])];
}

/** What pages are given of the settings. */
function pagesOf({ regions, phonesUrl, site }: ControlPlaneConfig): NonNullable<Services['pages']> {
  const named = [...regions].flatMap(([region, { gatewayUrl }]) =>
    gatewayUrl === undefined ? [] : [[region, gatewayUrl.replace(/\/+$/, '')] as const],
  );
  return {
    gatewayUrls: new Map(named),
    support: site.supportAddress,
    ...(phonesUrl === undefined ? {} : { phones_url: phonesUrl }),
  };
}
