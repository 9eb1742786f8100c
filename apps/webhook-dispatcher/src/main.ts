import 'reflect-metadata';
import { NestLog, openLog, openProbeServer, Probes, runServer } from '@dormouse/bootstrap';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { dispatcherConfig } from './config.js';

const log = openLog({ name: 'webhook-dispatcher' });

await runServer({
  log,
  start: async () => {
    const config = dispatcherConfig();
    log.level = config.logLevel;
    const held: { module?: AppModule } = {};
    const probes = new Probes({
      app: 'webhook-dispatcher',
      checks: { database: async () => (await held.module?.databaseAnswers()) ?? false },
    });
    const context = await NestFactory.createApplicationContext(AppModule.with(config, log, probes), {
      logger: new NestLog(log),
    });
    held.module = context.get(AppModule);
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
