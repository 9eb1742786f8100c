import type { Logger } from '@dormouse/bootstrap';
import { Module } from '@nestjs/common';
import { Regions } from '../regions/regions.js';
import { LOG } from '../services.js';
import { FleetController } from './fleet.controller.js';
import { Fleet } from './fleet.js';

@Module({
  controllers: [FleetController],
  providers: [
    {
      provide: Fleet,
      inject: [Regions, LOG],
      useFactory: (regions: Regions, log: Logger) => new Fleet(regions, log),
    },
  ],
})
export class FleetModule {}
