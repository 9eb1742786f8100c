import { ConfigError, openLog } from '@dormouse/bootstrap';
import { setUpConfig } from './config.js';
import { setUpStripe } from './setup/setup.js';
import { openStripe } from './stripe/stripe-client.js';

// `npm run billing:setup`: prints one JSON line, `{"product","price","portalConfiguration","webhookEndpoint","webhookSecret","changed"}`.
// The webhook's secret is there only when the endpoint was just made: Stripe shows it once.
const log = openLog({ name: 'billing:setup' });
try {
  const { stripe, terms } = setUpConfig();
  process.stdout.write(`${JSON.stringify(await setUpStripe(openStripe(stripe), terms))}\n`);
} catch (error) {
  log.error({ err: error }, error instanceof ConfigError ? error.message : 'Stripe could not be set up');
  process.exitCode = 1;
}
