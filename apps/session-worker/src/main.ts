import 'reflect-metadata';
import { openBackgroundApp, openLog, runServer } from '@dormouse/bootstrap';
import { workerConfig } from './config.js';
import { applyPatches } from './socket/patches/apply.js';
import { WorkerModule } from './worker.module.js';

const name = 'session-worker';
const log = openLog({ name });
applyPatches(log);

await runServer({
  log,
  start: () => {
    const config = workerConfig();
    log.level = config.logLevel;
    return openBackgroundApp({
      name,
      log,
      probes: config.probes,
      module: WorkerModule,
      create: (probes) => WorkerModule.with(config, log, probes),
      databaseAnswers: (module) => module.worker.databaseAnswers(),
    });
  },
});
