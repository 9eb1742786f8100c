import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import type { Redis } from '@dormouse/redis';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { GiftsModule } from './gifts/gifts.module.js';
import { OffModule } from './internal/off.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { NumbersModule } from './numbers/numbers.module.js';
import { Regions } from './regions/regions.js';
import {
  BILLING_SECRET,
  CLOCK,
  GLOBAL_DATABASE,
  LOG,
  METRICS,
  REGION_POLL_MS,
  RULES,
  STRIPE_SETTINGS,
} from './services.js';
import type { BillingRules } from './standing/standing.js';
import { StandingsModule } from './standings/standings.module.js';
import { StripeModule } from './stripe/stripe.module.js';
import type { StripeSettings } from './stripe/stripe-settings.js';

/** Services that the process opens once and every module can inject. */
export interface Services {
  database: GlobalDatabase;
  redis: Redis;
  regions: Regions;
  rules: BillingRules;
  regionPollMs: number;
  /** With it the control plane makes requests. */
  secret: string;
  /** Absent: billing is off. */
  stripe?: StripeSettings | undefined;
  /** Clock in epoch milliseconds. */
  nowMs: () => number;
  metrics: Registry;
  log: Logger;
}

@Global()
@Module({})
export class AppModule {
  static with({ redis, ...given }: Services): DynamicModule {
    const services = [
      { provide: GLOBAL_DATABASE, useValue: given.database },
      { provide: Regions, useValue: given.regions },
      { provide: RULES, useValue: given.rules },
      { provide: REGION_POLL_MS, useValue: given.regionPollMs },
      { provide: BILLING_SECRET, useValue: given.secret },
      { provide: CLOCK, useValue: given.nowMs },
      { provide: METRICS, useValue: given.metrics },
      { provide: LOG, useValue: given.log },
      ...(given.stripe ? [{ provide: STRIPE_SETTINGS, useValue: given.stripe }] : []),
    ];
    return {
      module: AppModule,
      imports: [
        ...[JobsModule.with(redis), NumbersModule, StandingsModule, GiftsModule],
        given.stripe ? StripeModule : OffModule,
      ],
      providers: services,
      exports: services,
    };
  }
}
