/**
 * Tells that events were written. Losing a signal is harmless: whoever hears them looks by itself, too.
 *
 * The dispatcher is told at once, and only of channels that have webhooks: it would look in vain for the others. Whoever
 * pulls events of channels without webhooks hears of them together, a moment later.
 */
import type { ChannelDirectory } from '@dormouse/channel-directory';

/** A send makes three events within milliseconds, and a busy worker sends for many channels. */
const TOGETHER_MS = 50;

export interface EventSignalsOptions {
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  /** Tells the dispatcher. */
  readonly tellDispatcher: (channelId: string) => Promise<void>;
  /** Tells those who pull. */
  readonly tellPullers: (channelIds: readonly string[]) => Promise<void>;
}

export class EventSignals {
  /** Channels of which those who pull are about to be told. */
  private readonly due = new Set<string>();

  constructor(private readonly options: EventSignalsOptions) {}

  /** Events of the channel were committed. */
  readonly ready = (channelId: string): void => {
    this.tell(channelId).catch(() => undefined);
  };

  private async tell(channelId: string): Promise<void> {
    const channel = await this.options.directory.byId(channelId).catch(() => undefined);
    if (channel?.settings.webhooks.length !== 0) return this.options.tellDispatcher(channelId);
    const isFirst = this.due.size === 0;
    this.due.add(channelId);
    if (!isFirst) return;
    setTimeout(() => {
      const channelIds = [...this.due];
      this.due.clear();
      this.options.tellPullers(channelIds).catch(() => undefined);
    }, TOGETHER_MS).unref();
  }
}
