/** How this installation uses Stripe. */
export interface StripeSettings {
  secretKey: string;
  /** Where Stripe is; absent: Stripe itself. */
  apiUrl?: string;
  /** Of one attempt of a request. */
  timeoutMs: number;
  /** Of everything that nobody waits for: turns and the sweep. */
  requestsPerSecond: number;
  /** The current secret first. */
  webhookSecrets: readonly string[];
  /** Interval of the sweep. */
  sweepEveryMs: number;
  /** Of a further number for a month, in the smallest unit of the currency. */
  price: { amount: number; currency: string };
  /** Where people come back to from Stripe's pages. */
  pages: { successUrl: string; cancelUrl: string; returnUrl: string };
}
