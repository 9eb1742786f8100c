import 'reflect-metadata';
import { openLog, runServer } from '@dormouse/bootstrap';
import { edgeConfig } from './config.js';
import { openEdge } from './edge.js';

const bootLog = openLog({ name: 'edge-api' });

await runServer({
  log: bootLog,
  start: () => {
    const config = edgeConfig();
    return openEdge(config, openLog({ name: 'edge-api', level: config.logLevel }));
  },
});
