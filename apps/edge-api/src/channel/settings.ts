import { requireUsableSettings, type ChannelDirectory } from '@dormouse/channel-directory';
import { GatewayError, shownSettings, type SettingsPatch, type SettingsUpdateResult } from '@dormouse/gateway-contract';

export interface SettingsServices {
  directory: Pick<ChannelDirectory, 'updateSettings'>;
  /** Webhooks and proxies may be at private addresses: development only. */
  allowPrivateWebhooks: boolean;
}

/**
 * Changes of a channel's settings. The database notifies edges and workers when they commit (`ChannelChanges`); a process
 * that misses the notification finds the change when it next reads the settings.
 */
export class Settings {
  constructor(private readonly services: SettingsServices) {}

  async update(channelId: string, patch: SettingsPatch): Promise<SettingsUpdateResult> {
    requireUsableSettings(patch, { allowPrivate: this.services.allowPrivateWebhooks });
    const update = await this.services.directory.updateSettings(channelId, patch);
    if (!update) throw new GatewayError(401, { details: 'the channel is gone' });
    return {
      before_update: shownSettings(update.before),
      after_update: shownSettings(update.after),
      changes: update.changes,
    };
  }
}
