import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { AuditController } from './audit.controller.js';
import { AuditRetention } from './audit-retention.js';

/** The audit log of accounts. */
@Module({
  controllers: [AuditController],
  providers: [
    {
      provide: AuditRetention,
      inject: [GLOBAL_DATABASE, LOG],
      useFactory: (database: GlobalDatabase, log: Logger) => new AuditRetention(database, log),
    },
  ],
})
export class AuditModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly retention: AuditRetention) {}

  onApplicationBootstrap(): void {
    this.retention.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.retention.stop();
  }
}
