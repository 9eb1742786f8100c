import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { StreamsModule } from '../streams/streams.module.js';
import { LoginController } from './login.controller.js';

@Module({ imports: [AccountsModule, ChannelsModule, StreamsModule], controllers: [LoginController] })
export class LinkingModule {}
