import type { LogOf } from '@dormouse/bootstrap';

/** Logs an outage once when it begins and once when it ends, however often the work is repeated meanwhile. */
export class OutageLog {
  readonly #away = new Set<string>();

  constructor(
    private readonly log: LogOf<'info' | 'warn'>,
    private readonly what: string,
  ) {}

  worked(region: string): void {
    if (this.#away.delete(region)) this.log.info({ region }, `${this.what}: works again`);
  }

  failed(region: string, error: unknown): void {
    if (this.#away.has(region)) return;
    this.#away.add(region);
    this.log.warn({ region, err: error }, `${this.what}: failed, and is repeated`);
  }
}
