import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES } from '@dormouse/queues';
import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { Regions } from '../regions/regions.js';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { MailJobs } from './mail-jobs.js';
import { MailMetrics } from './mail-metrics.js';
import { MailSender } from './mail-sender.js';
import type { Recipients } from './recipients.js';
import { RegionMails } from './region-mails.js';
import type { MailAddress, MailTransport } from './smtp-transport.js';

export interface MailServices {
  /** Absent: there is no SMTP server. */
  readonly transport?: MailTransport | undefined;
  readonly from: MailAddress;
  readonly recipients: Recipients;
  readonly metrics: Registry;
}

/** Sends the mail of the outbox. Needs `BullModule.forRoot`. */
@Module({})
export class MailModule {
  static with({ transport, from, recipients, metrics }: MailServices): DynamicModule {
    return {
      module: MailModule,
      imports: [BullModule.registerQueue({ name: JOB_QUEUES.mail })],
      providers: [
        MailJobs,
        {
          provide: MailSender,
          inject: [GLOBAL_DATABASE, LOG],
          useFactory: (database: GlobalDatabase, log: Logger) => {
            const measured = new MailMetrics(metrics, database);
            const onOutcome = measured.count.bind(measured);
            return new MailSender({ database, transport, from, recipients, log, onOutcome });
          },
        },
        {
          provide: RegionMails,
          inject: [GLOBAL_DATABASE, Regions, LOG],
          useFactory: (database: GlobalDatabase, regions: Regions, log: Logger) =>
            new RegionMails(database, regions, log),
        },
      ],
    };
  }
}
