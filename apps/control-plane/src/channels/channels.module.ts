import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Regions } from '../regions/regions.js';
import { ALLOW_PRIVATE_WEBHOOKS, CHANNEL_LIMITS, GLOBAL_DATABASE, LOG } from '../services.js';
import { ChannelEntries } from './channel-entries.js';
import { ChannelExportController } from './channel-export.controller.js';
import { ChannelExport } from './channel-export.js';
import { ChannelSettingsController } from './channel-settings.controller.js';
import { SettingsOfChannels } from './channel-settings.js';
import { ChannelsController } from './channels.controller.js';
import { Channels, type ChannelLimits } from './channels.js';
import { RegionDeliveries } from './region-deliveries.js';
import { TokenRotations } from './token-rotations.js';

@Module({
  controllers: [ChannelsController, ChannelExportController, ChannelSettingsController],
  providers: [
    {
      provide: ChannelEntries,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new ChannelEntries(database),
    },
    {
      provide: Channels,
      inject: [ChannelEntries, TokenRotations, Regions, LOG, GLOBAL_DATABASE, CHANNEL_LIMITS],
      useFactory: (
        entries: ChannelEntries,
        rotations: TokenRotations,
        regions: Regions,
        log: Logger,
        database: GlobalDatabase,
        limits: ChannelLimits,
      ) => new Channels({ entries, rotations, regions, log, database, limits }),
    },
    {
      provide: ChannelExport,
      inject: [ChannelEntries, Channels, Regions, GLOBAL_DATABASE],
      useFactory: (entries: ChannelEntries, channels: Channels, regions: Regions, database: GlobalDatabase) =>
        new ChannelExport(entries, channels, regions, database),
    },
    {
      provide: SettingsOfChannels,
      inject: [ChannelEntries, Regions, GLOBAL_DATABASE, ALLOW_PRIVATE_WEBHOOKS],
      useFactory: (entries: ChannelEntries, regions: Regions, database: GlobalDatabase, allowPrivate: boolean) =>
        new SettingsOfChannels(entries, regions, database, { allowPrivate }),
    },
    {
      provide: TokenRotations,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new TokenRotations(database),
    },
    {
      provide: RegionDeliveries,
      inject: [ChannelEntries, TokenRotations, Regions, LOG],
      useFactory: (entries: ChannelEntries, rotations: TokenRotations, regions: Regions, log: Logger) =>
        new RegionDeliveries({ entries, rotations, regions, log }),
    },
  ],
  exports: [ChannelEntries, Channels],
})
export class ChannelsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly deliveries: RegionDeliveries) {}

  onApplicationBootstrap(): void {
    this.deliveries.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.deliveries.stop();
  }
}
