/** What programs use that start a simulated Stripe in their own process. */
export { startStripeSimulator, type StripeSimulator, type StripeSimulatorOptions } from './simulator.js';
