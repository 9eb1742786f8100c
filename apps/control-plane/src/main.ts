import 'reflect-metadata';
import { openLog, runServer, startTraced } from '@dormouse/bootstrap';
import { controlPlaneConfig } from './config.js';
import { openControlPlane } from './control-plane.js';
import { VERSION } from './version.js';

const name = 'control-plane';
const log = openLog({ name });

void runServer({
  log,
  start: () => {
    const config = controlPlaneConfig();
    log.level = config.logLevel;
    return startTraced(config.traces, { name, version: VERSION, log }, () => openControlPlane(config, log));
  },
});
