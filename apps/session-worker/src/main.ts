import 'reflect-metadata';
import { NestLog, openLog, openProbeServer, Probes, runServer } from '@dormouse/bootstrap';
import { NestFactory } from '@nestjs/core';
import { workerConfig } from './config.js';
import { passKeysAsObjects } from './socket/patches/crypto-key-objects.js';
import { silenceConsole } from './socket/patches/silent-console.js';
import { WorkerModule } from './worker.module.js';

const log = openLog({ name: 'session-worker' });
silenceConsole(log);
// Baileys writes a stack down with every stanza it sends: through source maps that takes longer than all else it does for
// a receipt. Places in the log are those of the built files.
process.setSourceMapsEnabled(false);
passKeysAsObjects();

await runServer({
  log,
  start: async () => {
    const config = workerConfig();
    log.level = config.logLevel;
    const held: { module?: WorkerModule } = {};
    const probes = new Probes({
      app: 'session-worker',
      checks: { database: async () => (await held.module?.worker.databaseAnswers()) ?? false },
    });
    const context = await NestFactory.createApplicationContext(WorkerModule.with(config, log, probes), {
      logger: new NestLog(log),
    });
    held.module = context.get(WorkerModule);
    const server = await openProbeServer({ probes, ...config.probes });
    return {
      url: server.url,
      drain: async () => {
        probes.startDraining();
        await context.close();
        await server.close();
      },
    };
  },
});
