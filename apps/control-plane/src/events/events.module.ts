import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { Regions } from '../regions/regions.js';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { EventStreams } from './event-streams.js';
import { EventsController } from './events.controller.js';
import { Events } from './events.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [AccountsModule, ChannelsModule],
  controllers: [EventsController, WebhooksController],
  providers: [
    {
      provide: Events,
      inject: [ChannelEntries, Regions, GLOBAL_DATABASE],
      useFactory: (entries: ChannelEntries, regions: Regions, database: GlobalDatabase) =>
        new Events(entries, regions, database),
    },
    { provide: EventStreams, inject: [LOG], useFactory: (log: Logger) => new EventStreams(log) },
  ],
})
export class EventsModule implements OnModuleDestroy {
  constructor(private readonly streams: EventStreams) {}

  /** Before the server closes: it waits for every response to end. */
  async onModuleDestroy(): Promise<void> {
    await this.streams.close();
  }
}
