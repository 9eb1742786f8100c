import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES } from '@dormouse/queues';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { CLOCK, GLOBAL_DATABASE, RULES } from '../services.js';
import type { BillingRules } from '../standing/standing.js';
import { RegionStandings } from './region-standings.js';
import { Recompute } from './recompute.js';
import { RulesInForce } from './rules-in-force.js';
import { StandingJobs } from './standing-jobs.js';
import { StandingOutbox } from './standing-outbox.js';

/** From stored facts to the flag of every number in its region. */
@Module({
  imports: [BullModule.registerQueue({ name: JOB_QUEUES.standings })],
  providers: [
    StandingJobs,
    RegionStandings,
    {
      provide: Recompute,
      inject: [GLOBAL_DATABASE, RULES, CLOCK],
      useFactory: (database: GlobalDatabase, rules: BillingRules, nowMs: () => number) =>
        new Recompute({ database, rules, nowMs }),
    },
    {
      provide: RulesInForce,
      inject: [GLOBAL_DATABASE, RULES],
      useFactory: (database: GlobalDatabase, rules: BillingRules) => new RulesInForce(database, rules),
    },
    {
      provide: StandingOutbox,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new StandingOutbox(database),
    },
  ],
  exports: [StandingJobs],
})
export class StandingsModule {}
