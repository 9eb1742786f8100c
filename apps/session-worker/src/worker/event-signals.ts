/**
 * Signals that events were stored. A lost signal is harmless: its receivers also poll.
 *
 * The dispatcher is notified at once, and only of channels with webhooks, because it delivers nothing for others. Readers
 * that pull events of channels without webhooks are notified of several channels together, a moment later.
 */
import type { ChannelDirectory } from '@dormouse/channel-directory';

/** How long signals to pullers are collected: a send causes three events within milliseconds. */
const TOGETHER_MS = 50;

export interface EventSignalsOptions {
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  /** Notifies the dispatcher. */
  readonly notifyDispatcher: (channelId: string) => Promise<void>;
  /** Notifies readers that pull. */
  readonly notifyPullers: (channelIds: readonly string[]) => Promise<void>;
}

export class EventSignals {
  /** Channels whose signal to pullers is due. */
  private readonly due = new Set<string>();

  constructor(private readonly options: EventSignalsOptions) {}

  /** Events of the channel were committed. */
  readonly ready = (channelId: string): void => {
    this.signal(channelId).catch(() => undefined);
  };

  private async signal(channelId: string): Promise<void> {
    const channel = await this.options.directory.byId(channelId).catch(() => undefined);
    if (channel?.settings.webhooks.length !== 0) return this.options.notifyDispatcher(channelId);
    const isFirst = this.due.size === 0;
    this.due.add(channelId);
    if (!isFirst) return;
    setTimeout(() => {
      const channelIds = [...this.due];
      this.due.clear();
      this.options.notifyPullers(channelIds).catch(() => undefined);
    }, TOGETHER_MS).unref();
  }
}
