import 'reflect-metadata';
import { openLog, runServer, startTraced } from '@dormouse/bootstrap';
import { openBilling } from './billing.js';
import { billingConfig } from './config.js';
import { VERSION } from './version.js';

const name = 'billing';
const log = openLog({ name });

void runServer({
  log,
  start: () => {
    const config = billingConfig();
    log.level = config.logLevel;
    return startTraced(config.traces, { name, version: VERSION, log }, () => openBilling(config, log));
  },
});
