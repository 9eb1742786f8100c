import { Counter, Gauge, type Registry } from 'prom-client';

/** What is removed because it was stored long enough, and what should be gone. */
export class RetentionMetrics {
  private readonly removals: Counter<'kind'>;
  private readonly overdueSeconds: Gauge;
  private readonly unpurgedSeconds: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.removals = new Counter({
      name: 'dormouse_retention_removed_rows_total',
      help: 'Rows that were older than their channel stores them, by kind; contents: messages whose content was erased',
      labelNames: ['kind'],
      registers,
    });
    this.overdueSeconds = new Gauge({
      name: 'dormouse_retention_overdue_seconds',
      help: 'By how much the oldest message that the last round left in the region is older than its channel stores it',
      registers,
    });
    this.unpurgedSeconds = new Gauge({
      name: 'dormouse_deleted_channel_unpurged_seconds',
      help: 'For how long the channel has been deleted that waits longest until nothing is left of it',
      registers,
    });
  }

  readonly removed = (kind: string, rows: number): void => this.removals.inc({ kind }, rows);

  readonly overdue = (seconds: number): void => this.overdueSeconds.set(seconds);

  readonly unpurged = (seconds: number): void => this.unpurgedSeconds.set(seconds);
}
