import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Answer } from '../http/webhook-client.js';

/** What the dispatcher counts. */
export class DeliveryMetrics {
  readonly #attempts: Counter<'outcome'>;
  readonly #attemptSeconds: Histogram;
  readonly #eventAgeSeconds: Histogram;
  readonly #active: Gauge;
  readonly #setAside: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#attempts = new Counter({
      name: 'webhook_attempts_total',
      help: 'Calls to webhooks by outcome: taken (accepted), refused, unanswered, abandoned',
      labelNames: ['outcome'],
      registers,
    });
    this.#attemptSeconds = new Histogram({
      name: 'webhook_attempt_seconds',
      help: 'Time a call to a webhook took',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#eventAgeSeconds = new Histogram({
      name: 'webhook_event_age_seconds',
      help: 'Age of an event when its webhook accepted it',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 30, 300, 3_600, 86_400],
      registers,
    });
    this.#setAside = new Counter({
      name: 'webhook_events_set_aside_total',
      help: 'Events that a living receiver kept refusing, so that their conversations went on without them',
      registers,
    });
    this.#active = new Gauge({
      name: 'webhook_deliveries_active',
      help: 'Webhooks that this dispatcher is delivering events to at this moment',
      registers,
    });
  }

  attempted(answer: Answer, tookMs: number): void {
    this.#attempts.inc({ outcome: answer.kind === 'accepted' ? 'taken' : answer.kind });
    this.#attemptSeconds.observe(tookMs / 1_000);
  }

  /** @param ageMs age of the event when it was read from the database */
  delivered(ageMs: number, tookMs: number): void {
    this.#eventAgeSeconds.observe(Math.max(0, ageMs + tookMs) / 1_000);
  }

  setAside(): void {
    this.#setAside.inc();
  }

  active(count: number): void {
    this.#active.set(count);
  }
}
