import type { LogOf } from '@dormouse/bootstrap';

/** Where deliveries are logged: ids, statuses and durations only. */
export type DeliveryLog = LogOf<'info' | 'warn'>;
