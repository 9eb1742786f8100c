import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Redis } from '@dormouse/redis';

/** Background jobs on BullMQ: see libs/queues for what Redis may lose. */
@Module({})
export class JobsModule {
  /** @param redis must wait while Redis is away: workers go on when it is back */
  static with(redis: Redis): DynamicModule {
    return { module: JobsModule, imports: [BullModule.forRoot({ connection: redis })] };
  }
}
