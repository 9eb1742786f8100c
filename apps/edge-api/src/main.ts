import 'reflect-metadata';
import { openLog, runServer } from '@dormouse/bootstrap';
import { edgeConfig } from './config.js';
import { openEdge } from './edge.js';

const log = openLog({ name: 'edge-api' });

await runServer({
  log,
  start: () => {
    const config = edgeConfig();
    log.level = config.logLevel;
    return openEdge(config, log);
  },
});
