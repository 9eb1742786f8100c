import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { JOB_QUEUES, type Queue } from '@dormouse/queues';
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { TurnJobs } from '../customers/turn-jobs.js';
import { TurnKick } from '../customers/turn-kick.js';
import { InternalController } from '../internal/internal.controller.js';
import { CLOCK, GLOBAL_DATABASE, LOG, METRICS, RULES, STRIPE_SETTINGS } from '../services.js';
import type { BillingRules } from '../standing/standing.js';
import { StandingJobs } from '../standings/standing-jobs.js';
import { StandingsModule } from '../standings/standings.module.js';
import { SweepJobs } from '../sweep/sweep-jobs.js';
import { SweepMetrics } from '../sweep/sweep-metrics.js';
import { WebhookController } from '../webhook/webhook.controller.js';
import { StripeSide } from './stripe-side.js';
import type { StripeSettings } from './stripe-settings.js';

/** Everything towards Stripe: imported only where billing is on. */
@Module({
  imports: [
    BullModule.registerQueue({ name: JOB_QUEUES.billingTurns }, { name: JOB_QUEUES.billingSweep }),
    StandingsModule,
  ],
  controllers: [WebhookController, InternalController],
  providers: [
    TurnJobs,
    SweepJobs,
    {
      provide: SweepMetrics,
      inject: [METRICS],
      useFactory: (registry: Registry) => new SweepMetrics(registry),
    },
    {
      provide: TurnKick,
      inject: [getQueueToken(JOB_QUEUES.billingTurns), LOG],
      useFactory: (queue: Queue, log: Logger) => new TurnKick(queue, log),
    },
    {
      provide: StripeSide,
      inject: [STRIPE_SETTINGS, GLOBAL_DATABASE, RULES, CLOCK, LOG, TurnKick, StandingJobs],
      useFactory: (
        settings: StripeSettings,
        database: GlobalDatabase,
        rules: BillingRules,
        nowMs: () => number,
        log: Logger,
        turns: TurnKick,
        standings: StandingJobs,
      ) =>
        new StripeSide({
          ...{ settings, database, rules, nowMs, log },
          kick: (accountId) => turns.kick(accountId),
          onFacts: () => standings.kick(),
        }),
    },
  ],
})
export class StripeModule {}
