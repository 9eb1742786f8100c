import type { Logger } from '@dormouse/bootstrap';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { LOG } from '../services.js';
import { ChannelStreams } from './channel-streams.js';

@Module({
  providers: [{ provide: ChannelStreams, inject: [LOG], useFactory: (log: Logger) => new ChannelStreams(log) }],
  exports: [ChannelStreams],
})
export class StreamsModule implements OnModuleDestroy {
  constructor(private readonly streams: ChannelStreams) {}

  /** Before the server closes: it waits for every response to end. */
  async onModuleDestroy(): Promise<void> {
    await this.streams.close();
  }
}
