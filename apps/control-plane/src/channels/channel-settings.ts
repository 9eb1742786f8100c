import { requireUsableSettings, type ChannelDirectory } from '@dormouse/channel-directory';
import type { GlobalDatabase } from '@dormouse/database';
import { shownSettings, type ChannelSettings, type SettingsPatch } from '@dormouse/gateway-contract';
import type { Cause } from '../accounts/cause.js';
import { recorded } from '../audit/recorded.js';
import { RegionAwayError, type Regions } from '../regions/regions.js';
import { about, type ChannelEntries } from './channel-entries.js';
import { channelNotFound, regionAway } from './channels.js';

/**
 * Settings of channels, as the gateway has them: the same record, the same checks, and the same place in the region, so both ways to
 * change them can be used together. The database notifies edges and workers of a change when it commits.
 * A region that is away: 503, and nothing was changed.
 */
export class SettingsOfChannels {
  constructor(
    private readonly entries: ChannelEntries,
    private readonly regions: Regions,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly rules: { allowPrivate: boolean },
  ) {}

  /** The whole record, the password of the proxy masked. @throws {GatewayError} 404, 503 */
  async get(accountId: string, id: string): Promise<ChannelSettings> {
    return this.#inRegion(accountId, id, async (directory) => {
      const record = await directory.byId(id);
      return record?.deleted === false ? record.settings : undefined;
    });
  }

  /** Changes the fields of the patch. @returns the whole record @throws {GatewayError} 400 naming the field, 404, 503 */
  async change(accountId: string, id: string, patch: SettingsPatch, cause: Cause): Promise<ChannelSettings> {
    requireUsableSettings(patch, this.rules);
    // Which fields were given, not with what: webhooks and proxies are secrets.
    const details = { fields: Object.keys(patch).join(', ') };
    const entry = { ...cause, ...about(accountId, id), action: 'channel.change-settings', details };
    return this.#inRegion(accountId, id, (directory) =>
      recorded(this.database, entry, async () => (await directory.updateSettings(id, patch))?.after),
    );
  }

  async #inRegion(
    accountId: string,
    id: string,
    work: (directory: ChannelDirectory) => Promise<ChannelSettings | undefined>,
  ): Promise<ChannelSettings> {
    const entry = await this.entries.find(accountId, id);
    if (!entry) throw channelNotFound();
    const link = this.regions.link(entry.region);
    if (!link) throw regionAway(new RegionAwayError(entry.region), 'nothing was changed: try again');
    const settings = await link.run(work).catch((error: unknown) => {
      throw error instanceof RegionAwayError ? regionAway(error, 'nothing was changed: try again') : error;
    });
    if (!settings) throw channelNotFound();
    return shownSettings(settings);
  }
}
