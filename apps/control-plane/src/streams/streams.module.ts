import type { Logger } from '@dormouse/bootstrap';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { LOG, STREAM_SETTINGS } from '../services.js';
import { ChannelStreams, type StreamSettings } from './channel-streams.js';

@Module({
  providers: [
    {
      provide: ChannelStreams,
      inject: [LOG, STREAM_SETTINGS],
      useFactory: (log: Logger, settings: StreamSettings) => new ChannelStreams(log, settings),
    },
  ],
  exports: [ChannelStreams],
})
export class StreamsModule implements OnModuleDestroy {
  constructor(private readonly streams: ChannelStreams) {}

  /** Before the server closes: it waits for every response to end. */
  async onModuleDestroy(): Promise<void> {
    await this.streams.close();
  }
}
