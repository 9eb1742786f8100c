import 'reflect-metadata';
import { openBackgroundApp, openLog, runServer, startTraced } from '@dormouse/bootstrap';
import { AppModule } from './app.module.js';
import { dispatcherConfig } from './config.js';
import { VERSION } from './version.js';

const name = 'webhook-dispatcher';
const log = openLog({ name });

void runServer({
  log,
  start: () => {
    const config = dispatcherConfig();
    log.level = config.logLevel;
    return startTraced(config.traces, { name, version: VERSION, log }, () =>
      openBackgroundApp({
        name,
        log,
        probes: config.probes,
        module: AppModule,
        create: (probes) => AppModule.with(config, log, probes),
        databaseAnswers: (module) => module.databaseAnswers(),
      }),
    );
  },
});
