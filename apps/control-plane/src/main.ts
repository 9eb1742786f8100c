import 'reflect-metadata';
import { openLog, runServer } from '@dormouse/bootstrap';
import { controlPlaneConfig } from './config.js';
import { openControlPlane } from './control-plane.js';

const log = openLog({ name: 'control-plane' });

await runServer({
  log,
  start: () => {
    const config = controlPlaneConfig();
    log.level = config.logLevel;
    return openControlPlane(config, log);
  },
});
