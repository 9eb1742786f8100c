import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Regions } from '../regions/regions.js';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { FleetController } from './fleet.controller.js';
import { FleetFiguresHistory } from './fleet-history.js';
import { Fleet } from './fleet.js';

@Module({
  controllers: [FleetController],
  providers: [
    {
      provide: Fleet,
      inject: [Regions, LOG, GLOBAL_DATABASE],
      useFactory: (regions: Regions, log: Logger, database: GlobalDatabase) => new Fleet(regions, log, database),
    },
    {
      provide: FleetFiguresHistory,
      inject: [Fleet, GLOBAL_DATABASE, LOG],
      useFactory: (fleet: Fleet, database: GlobalDatabase, log: Logger) =>
        new FleetFiguresHistory(fleet, database, log),
    },
  ],
})
export class FleetModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly history: FleetFiguresHistory) {}

  onApplicationBootstrap(): void {
    this.history.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.history.stop();
  }
}
