import 'reflect-metadata';
import { openBackgroundApp, openLog, runServer, startTraced } from '@dormouse/bootstrap';
import { workerConfig } from './config.js';
import { applyPatches } from './socket/patches/apply.js';
import { WorkerModule } from './worker.module.js';
import { VERSION } from './version.js';

const name = 'session-worker';
const log = openLog({ name });
applyPatches(log);

void runServer({
  log,
  start: () => {
    const config = workerConfig();
    log.level = config.logLevel;
    return startTraced(config.traces, { name, version: VERSION, log }, () =>
      openBackgroundApp({
        name,
        log,
        probes: config.probes,
        module: WorkerModule,
        create: (probes) => WorkerModule.with(config, log, probes),
        databaseAnswers: (module) => module.worker.databaseAnswers(),
      }),
    );
  },
});
