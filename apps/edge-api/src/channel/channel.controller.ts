import { healthOf, type ChannelRecord } from '@dormouse/channel-directory';
import {
  settingsPatchBody,
  shownSettings,
  type ChannelSettings,
  type Health,
  type SettingsPatch,
  type SettingsUpdateResult,
} from '@dormouse/gateway-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, Patch } from '@nestjs/common';
import { CurrentChannel } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { VERSION } from '../version.js';
import { Settings } from './settings.js';

@Controller()
export class ChannelController {
  constructor(private readonly settings: Settings) {}

  /** Safe to poll: answers a channel that may not be billed, wakes nothing. */
  @Get('health')
  @Endpoint({ rate: 'health', billed: false })
  health(@CurrentChannel() channel: ChannelRecord): Health {
    return healthOf(channel, { nowMs: Date.now(), version: VERSION });
  }

  @Get('settings')
  getSettings(@CurrentChannel() channel: ChannelRecord): ChannelSettings {
    return shownSettings(channel.settings);
  }

  @Patch('settings')
  updateSettings(
    @CurrentChannel() channel: ChannelRecord,
    @Body(valid(settingsPatchBody)) patch: SettingsPatch,
  ): Promise<SettingsUpdateResult> {
    return this.settings.update(channel.id, patch);
  }
}
