import 'reflect-metadata';
import { openLog, runServer, startTraced } from '@dormouse/bootstrap';
import { edgeConfig } from './config.js';
import { openEdge } from './edge.js';
import { VERSION } from './version.js';

const name = 'edge-api';
const log = openLog({ name });

void runServer({
  log,
  start: () => {
    const config = edgeConfig();
    log.level = config.logLevel;
    return startTraced(config.traces, { name, version: VERSION, log }, () => openEdge(config, log));
  },
});
