import 'reflect-metadata';
import { openLog, runServer } from '@dormouse/bootstrap';
import { openBilling } from './billing.js';
import { billingConfig } from './config.js';

const log = openLog({ name: 'billing' });

await runServer({
  log,
  start: () => {
    const config = billingConfig();
    log.level = config.logLevel;
    return openBilling(config, log);
  },
});
