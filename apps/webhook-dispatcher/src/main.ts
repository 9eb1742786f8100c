import 'reflect-metadata';
import { openBackgroundApp, openLog, runServer } from '@dormouse/bootstrap';
import { AppModule } from './app.module.js';
import { dispatcherConfig } from './config.js';

const name = 'webhook-dispatcher';
const log = openLog({ name });

await runServer({
  log,
  start: () => {
    const config = dispatcherConfig();
    log.level = config.logLevel;
    return openBackgroundApp({
      name,
      log,
      probes: config.probes,
      module: AppModule,
      create: (probes) => AppModule.with(config, log, probes),
      databaseAnswers: (module) => module.databaseAnswers(),
    });
  },
});
