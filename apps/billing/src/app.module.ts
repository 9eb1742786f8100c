import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import type { Redis } from '@dormouse/redis';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { GiftsModule } from './gifts/gifts.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { NumbersModule } from './numbers/numbers.module.js';
import { Regions } from './regions/regions.js';
import { BILLING_SECRET, CLOCK, GLOBAL_DATABASE, LOG, METRICS, REGION_POLL_MS, RULES } from './services.js';
import type { BillingRules } from './standing/standing.js';
import { StandingsModule } from './standings/standings.module.js';

/** Services that the process opens once and every module can inject. */
export interface Services {
  database: GlobalDatabase;
  redis: Redis;
  regions: Regions;
  rules: BillingRules;
  regionPollMs: number;
  /** With it the control plane makes requests. */
  secret: string;
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
    ];
    return {
      module: AppModule,
      imports: [JobsModule.with(redis), NumbersModule, StandingsModule, GiftsModule],
      providers: services,
      exports: services,
    };
  }
}
