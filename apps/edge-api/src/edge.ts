import { Probes, type Logger, type RunningServer } from '@dormouse/bootstrap';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase } from '@dormouse/database';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { CommandClient } from '@dormouse/queues';
import { closeRedis, openRedis } from '@dormouse/redis';
import { PassOn } from './access/pass-on.js';
import { RateLimits } from './access/rate-limits.js';
import { Settings } from './channel/settings.js';
import type { EdgeConfig } from './config.js';
import { createApp } from './create-app.js';
import { IdempotencyKeys } from './messages/idempotency-keys.js';

const IDLE_SWEEP_MS = 250;
const KEYS_SWEEP_MS = 600_000;

/**
 * Opens an edge: connects to the region's stores and listens. It starts without them, too, answers 503 meanwhile, and
 * is ready (GET /readyz) once they are there.
 */
export async function openEdge(config: EdgeConfig, log: Logger): Promise<RunningServer & { url: string }> {
  const { region, regionHosts, redisUrl, rateLimits, maxJsonBytes, site, allowPrivateWebhooks } = config;
  const database = openRegionalDatabase({ ...config.database, applicationName: 'edge-api' });
  const redis = openRedis({ url: redisUrl, name: 'edge-api', whenAway: 'fail', log });
  const commands = new CommandClient({ redisUrl, log });
  const directory = new ChannelDirectory({ database });
  const passOn = new PassOn({ here: region });
  const probes = new Probes({
    app: 'edge-api',
    checks: {
      database: async () => (await database.pool.query('SELECT 1')).rowCount === 1,
      commands: () => commands.isReady(),
    },
  });
  const idempotencyKeys = new IdempotencyKeys({ database });
  const forgetting = setInterval(() => void idempotencyKeys.sweep().catch(() => undefined), KEYS_SWEEP_MS);
  const app = await createApp({
    services: {
      directory,
      messages: new MessageReader({ database }),
      groups: new GroupReader({ database }),
      commands,
      settings: new Settings({ directory, redis, log, allowPrivateWebhooks }),
      idempotencyKeys,
    },
    access: {
      region,
      regionHosts,
      directory,
      rateLimits: new RateLimits({ redis, limits: rateLimits }),
      passOn,
      probes,
      maxJsonBytes,
    },
    site,
    log,
  });
  await app.listen(config.listen);
  return {
    url: await app.getUrl(),
    drain: async () => {
      probes.startDraining();
      clearInterval(forgetting);
      // Ends once every request under way is answered and its connection, which may have been kept, is closed.
      const server = app.getHttpServer();
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      await app.close();
      clearInterval(sweep);
      passOn.close();
      await commands.close();
      await closeRedis(redis);
      await database.close();
    },
  };
}
