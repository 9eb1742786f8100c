import type { GlobalDatabase } from '@dormouse/database';
import { Module } from '@nestjs/common';
import { SecretGuard } from '../internal/secret.guard.js';
import { CLOCK, GLOBAL_DATABASE, RULES } from '../services.js';
import type { BillingRules } from '../standing/standing.js';
import { StandingJobs } from '../standings/standing-jobs.js';
import { StandingsModule } from '../standings/standings.module.js';
import { GiftsController } from './gifts.controller.js';
import { Gifts } from './gifts.js';

/** Free numbers that operators give an account. */
@Module({
  imports: [StandingsModule],
  controllers: [GiftsController],
  providers: [
    SecretGuard,
    {
      provide: Gifts,
      inject: [GLOBAL_DATABASE, RULES, CLOCK, StandingJobs],
      useFactory: (
        database: GlobalDatabase,
        { freeNumbers }: BillingRules,
        nowMs: () => number,
        standings: StandingJobs,
      ) => new Gifts({ database, freeNumbers, nowMs, kick: () => standings.kick() }),
    },
  ],
})
export class GiftsModule {}
