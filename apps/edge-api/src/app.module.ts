import type { ChannelDirectory as Directory } from '@dormouse/channel-directory';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { CommandClient } from '@dormouse/queues';
import { Module, type DynamicModule } from '@nestjs/common';
import { Settings } from './channel/settings.js';
import { ChannelController } from './channel/channel.controller.js';
import { UsersController } from './channel/users.controller.js';
import { ChatsController } from './chats/chats.controller.js';
import { GroupLinksController } from './groups/group-links.controller.js';
import { GroupsController } from './groups/groups.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { IdempotencyKeys } from './messages/idempotency-keys.js';
import { MessageActsController } from './messages/message-acts.controller.js';
import { Sends } from './messages/sends.js';
import { StatusesController } from './messages/statuses.controller.js';
import { NotBuiltController, NotImplementedController } from './not-implemented.controller.js';

/** What the controllers work with. */
export interface AppServices {
  directory: Directory;
  messages: MessageReader;
  groups: GroupReader;
  commands: CommandClient;
  settings: Settings;
  idempotencyKeys: IdempotencyKeys;
}

/**
 * The 56 endpoints. In front of all of them stands the access chain (access/access-chain.ts: 401, 501, 402, 429, 413);
 * whatever is thrown leaves through errors/error-envelope.filter.ts.
 */
@Module({})
export class AppModule {
  static serving(services: AppServices): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        ChannelController,
        UsersController,
        MessagesController,
        MessageActsController,
        StatusesController,
        ChatsController,
        GroupLinksController,
        GroupsController,
        NotImplementedController,
        NotBuiltController,
      ],
      providers: [
        { provide: ChannelDirectory, useValue: services.directory },
        { provide: MessageReader, useValue: services.messages },
        { provide: GroupReader, useValue: services.groups },
        { provide: CommandClient, useValue: services.commands },
        { provide: Settings, useValue: services.settings },
        { provide: IdempotencyKeys, useValue: services.idempotencyKeys },
        Sends,
      ],
    };
  }
}
