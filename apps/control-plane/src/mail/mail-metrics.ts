/** How the outbox of mail does, as metrics. */
import type { GlobalDatabase } from '@dormouse/database';
import { mailFigures } from '@dormouse/mail-outbox';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AttemptOutcome } from './mail-sender.js';

type Figures = Awaited<ReturnType<typeof mailFigures>>;

export class MailMetrics {
  readonly #attempts: Counter<'outcome'>;

  constructor(registry: Registry, database: Pick<GlobalDatabase, 'pool'>) {
    this.#attempts = new Counter({
      name: 'dormouse_mail_attempts_total',
      help: 'Attempts to send a mail, by what became of them',
      labelNames: ['outcome'],
      registers: [registry],
    });
    const figure = (name: string, help: string, read: (figures: Figures) => number): Gauge =>
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          // While the database is away there is no figure, rather than an old one.
          this.remove();
          const figures = await mailFigures(database.pool).catch(() => undefined);
          if (figures) this.set(read(figures));
        },
      });
    figure('dormouse_mail_waiting', 'Mails that are stored and have not ended', ({ waiting }) => waiting);
    figure('dormouse_mail_oldest_age_seconds', 'Age of the oldest mail that waits', (figures) => figures.oldest_age_s);
  }

  count(outcome: AttemptOutcome): void {
    this.#attempts.inc({ outcome });
  }
}
