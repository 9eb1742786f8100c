import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { ConnectSettings } from '../socket/socket-factory.js';

/**
 * Settings of channels that concern a connect. They are read from the table, not from the cache: a cached record may be a
 * second old, and once a proxy is set no connect may go without it.
 */
export class ConnectSettingsReader {
  constructor(private readonly directory: Pick<ChannelDirectory, 'refresh'>) {}

  async read(channelId: string): Promise<ConnectSettings> {
    const settings = (await this.directory.refresh(channelId))?.settings;
    return { fullHistory: settings?.full_history ?? false, proxy: settings?.proxy ?? '' };
  }
}
