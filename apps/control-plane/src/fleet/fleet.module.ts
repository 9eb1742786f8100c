import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module } from '@nestjs/common';
import { Regions } from '../regions/regions.js';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { FleetController } from './fleet.controller.js';
import { Fleet } from './fleet.js';

@Module({
  controllers: [FleetController],
  providers: [
    {
      provide: Fleet,
      inject: [Regions, LOG, GLOBAL_DATABASE],
      useFactory: (regions: Regions, log: Logger, database: GlobalDatabase) => new Fleet(regions, log, database),
    },
  ],
})
export class FleetModule {}
