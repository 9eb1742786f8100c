import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES } from '@dormouse/queues';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { requestTurns } from '../customers/turns.js';
import { GLOBAL_DATABASE } from '../services.js';
import { StandingsModule } from '../standings/standings.module.js';
import { NumberJobs } from './number-jobs.js';
import { NumberPull } from './number-pull.js';

/** Which numbers count, as the regions have them. */
@Module({
  imports: [BullModule.registerQueue({ name: JOB_QUEUES.numbers }), StandingsModule],
  providers: [
    NumberJobs,
    {
      provide: NumberPull,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new NumberPull({ database, onChange: requestTurns }),
    },
  ],
})
export class NumbersModule {}
