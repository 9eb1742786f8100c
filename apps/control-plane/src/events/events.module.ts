import type { GlobalDatabase } from '@dormouse/database';
import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { Regions } from '../regions/regions.js';
import { StreamsModule } from '../streams/streams.module.js';
import { GLOBAL_DATABASE } from '../services.js';
import { EventsController } from './events.controller.js';
import { Events } from './events.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [AccountsModule, ChannelsModule, StreamsModule],
  controllers: [EventsController, WebhooksController],
  providers: [
    {
      provide: Events,
      inject: [ChannelEntries, Regions, GLOBAL_DATABASE],
      useFactory: (entries: ChannelEntries, regions: Regions, database: GlobalDatabase) =>
        new Events(entries, regions, database),
    },
  ],
})
export class EventsModule {}
