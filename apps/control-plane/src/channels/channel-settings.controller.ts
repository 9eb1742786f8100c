import { settingsPatchBody, type ChannelSettings, type SettingsPatch } from '@dormouse/gateway-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { CurrentAccount, CurrentCause } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { SettingsOfChannels } from './channel-settings.js';

@Controller('channels/:id/settings')
export class ChannelSettingsController {
  constructor(private readonly settings: SettingsOfChannels) {}

  @Get()
  get(@CurrentAccount() account: Account, @Param('id') id: string): Promise<ChannelSettings> {
    return this.settings.get(account.id, id);
  }

  @Patch()
  change(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(settingsPatchBody)) patch: SettingsPatch,
  ): Promise<ChannelSettings> {
    return this.settings.change(account.id, id, patch, cause);
  }
}
