import { Counter, Gauge, type Registry } from 'prom-client';
import type { SweepReport } from './sweep.js';

/** What the sweep found. */
export class SweepMetrics {
  readonly #differences: Counter;
  readonly #endedAt: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#differences = new Counter({
      name: 'dormouse_billing_differences_total',
      help: 'Accounts that the sweep found to differ from Stripe, by what differed',
      labelNames: ['difference'],
      registers,
    });
    this.#endedAt = new Gauge({
      name: 'dormouse_billing_sweep_ended_timestamp_seconds',
      help: 'When this process last compared all accounts with Stripe',
      registers,
    });
  }

  ended({ differing }: SweepReport): void {
    for (const { difference } of differing) this.#differences.inc({ difference });
    this.#endedAt.setToCurrentTime();
  }
}
