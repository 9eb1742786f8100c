import { catalogOperations } from './catalog.js';
import { checkoutOperations } from './checkout.js';
import { customerOperations } from './customers.js';
import { invoiceOperations } from './invoices.js';
import type { Operation } from './operation.js';
import { paymentMethodOperations } from './payment-methods.js';
import { paymentOperations } from './payments.js';
import { portalOperations } from './portal.js';
import { subscriptionOperations } from './subscriptions.js';
import { testClockOperations } from './test-clocks.js';
import { webhookOperations } from './webhooks.js';

/** Everything that the API understands; all else is answered as Stripe answers an unknown address. */
export const OPERATIONS: readonly Operation[] = [
  ...customerOperations,
  ...catalogOperations,
  ...paymentMethodOperations,
  ...checkoutOperations,
  ...portalOperations,
  ...subscriptionOperations,
  ...invoiceOperations,
  ...paymentOperations,
  ...webhookOperations,
  ...testClockOperations,
];
