import type { Logger } from '@dormouse/bootstrap';
import type { ChannelDirectory } from '@dormouse/channel-directory';
import { GatewayError, shownSettings, type SettingsPatch, type SettingsUpdateResult } from '@dormouse/gateway-contract';
import { publishChannelChanged } from '@dormouse/queues';
import type { Redis } from '@dormouse/redis';
import { requireUsableProxy } from './proxy-address.js';
import { requirePublicWebhooks } from './webhook-address.js';

export interface SettingsServices {
  directory: Pick<ChannelDirectory, 'updateSettings'>;
  redis: Redis;
  log: Logger;
  /** Webhooks and proxies may be at private addresses: development only. */
  allowPrivateWebhooks: boolean;
}

/**
 * Changes of a channel's settings. Workers and the dispatcher are notified; one that misses the notice finds the change
 * when it next reads the settings.
 */
export class Settings {
  constructor(private readonly services: SettingsServices) {}

  async update(channelId: string, patch: SettingsPatch): Promise<SettingsUpdateResult> {
    const { allowPrivateWebhooks } = this.services;
    if (!allowPrivateWebhooks) requirePublicWebhooks(patch);
    requireUsableProxy(patch, { allowPrivate: allowPrivateWebhooks });
    const update = await this.services.directory.updateSettings(channelId, patch);
    if (!update) throw new GatewayError(401, { details: 'the channel is gone' });
    await publishChannelChanged(this.services.redis, channelId).catch((error: unknown) => {
      this.services.log.warn({ err: error, channelId }, 'the change of settings could not be published');
    });
    return {
      before_update: shownSettings(update.before),
      after_update: shownSettings(update.after),
      changes: update.changes,
    };
  }
}
