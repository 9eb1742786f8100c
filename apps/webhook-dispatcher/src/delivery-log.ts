/** Where deliveries are logged: ids, statuses and durations only. A pino logger fits. */
export interface DeliveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}
