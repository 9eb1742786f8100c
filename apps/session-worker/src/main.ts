import 'reflect-metadata';
import { NestLog, openLog, openProbeServer, Probes, runServer } from '@dormouse/bootstrap';
import { NestFactory } from '@nestjs/core';
import { workerConfig } from './config.js';
import { applyPatches } from './socket/patches/apply.js';
import { WorkerModule } from './worker.module.js';

const log = openLog({ name: 'session-worker' });
applyPatches(log);

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
