import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES } from '@dormouse/queues';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { AuditRetention } from '../audit/audit-retention.js';
import { GLOBAL_DATABASE } from '../services.js';
import { StaleUsers } from '../users/stale-users.js';
import { RetentionJobs } from './retention-jobs.js';

/** Deletes what is kept no longer. Needs `BullModule.forRoot`. */
@Module({
  imports: [BullModule.registerQueue({ name: JOB_QUEUES.retention })],
  providers: [
    RetentionJobs,
    ...[AuditRetention, StaleUsers].map((provide) => ({
      provide,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new provide(database),
    })),
  ],
})
export class RetentionModule {}
