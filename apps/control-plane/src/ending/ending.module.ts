import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { Keys } from '../accounts/keys.js';
import { BillingModule } from '../billing/billing.module.js';
import { Billing } from '../billing/billing.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { Channels } from '../channels/channels.js';
import { Regions } from '../regions/regions.js';
import { GLOBAL_DATABASE, LOG } from '../services.js';
import { Invitations } from '../teams/invitations.js';
import { Members } from '../teams/members.js';
import { TeamsModule } from '../teams/teams.module.js';
import { AccountExporter } from './account-export.js';
import { EndedAccounts } from './ended-accounts.js';
import { EndingController } from './ending.controller.js';

/** Export and end of accounts. */
@Module({
  imports: [AccountsModule, BillingModule, ChannelsModule, TeamsModule],
  controllers: [EndingController],
  providers: [
    {
      provide: AccountExporter,
      inject: [GLOBAL_DATABASE, Members, Invitations, Keys, ChannelEntries, Regions],
      useFactory: (
        database: GlobalDatabase,
        members: Members,
        invitations: Invitations,
        keys: Keys,
        entries: ChannelEntries,
        regions: Regions,
      ) => new AccountExporter({ database, members, invitations, keys, entries, regions }),
    },
    {
      provide: EndedAccounts,
      inject: [GLOBAL_DATABASE, ChannelEntries, Channels, Regions, LOG, Billing],
      useFactory: (
        database: GlobalDatabase,
        entries: ChannelEntries,
        channels: Channels,
        regions: Regions,
        log: Logger,
        billing: Billing,
      ) => new EndedAccounts({ database, entries, channels, regions, log, endBilling: billing.end.bind(billing) }),
    },
  ],
  exports: [EndedAccounts],
})
export class EndingModule implements OnApplicationShutdown {
  constructor(private readonly ended: EndedAccounts) {}

  async onApplicationShutdown(): Promise<void> {
    await this.ended.stop();
  }
}
