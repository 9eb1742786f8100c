import { JOB_QUEUES } from '@dormouse/queues';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { EndingJobs } from './ending-jobs.js';
import { EndingModule } from './ending.module.js';

/** Goes on with the ends of accounts by itself. Needs `BullModule.forRoot`. */
@Module({
  imports: [EndingModule, BullModule.registerQueue({ name: JOB_QUEUES.accountEnds })],
  providers: [EndingJobs],
})
export class EndingJobsModule {}
