import type { ChannelDirectory as Directory } from '@dormouse/channel-directory';
import { ChannelDirectory } from '@dormouse/channel-directory';
import type { MediaLimits } from '@dormouse/gateway-contract';
import type { MediaIntake } from '@dormouse/media-files';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { CommandClient } from '@dormouse/queues';
import { Module, type DynamicModule } from '@nestjs/common';
import { RateLimits } from './access/rate-limits.js';
import { Settings } from './channel/settings.js';
import { ChannelController } from './channel/channel.controller.js';
import { LoginImages } from './channel/login-images.js';
import { UsersController } from './channel/users.controller.js';
import { ChatsController } from './chats/chats.controller.js';
import { ContactsController } from './contacts/contacts.controller.js';
import { GroupLinksController } from './groups/group-links.controller.js';
import { GroupsController } from './groups/groups.controller.js';
import { RequestFiles } from './media/request-files.js';
import { MediaController } from './media/media.controller.js';
import { StoredFiles } from './media/stored-files.js';
import type { UploadPlaces } from './media/upload-places.js';
import { MediaMessagesController } from './messages/media-messages.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { IdempotencyKeys } from './messages/idempotency-keys.js';
import { LinkPreviewController } from './messages/link-preview.controller.js';
import { MessageActionsController } from './messages/message-actions.controller.js';
import { ChannelCommands } from './messages/channel-commands.js';
import { StatusesController } from './messages/statuses.controller.js';
import { NotImplementedController } from './not-implemented.controller.js';
import { PresencesController } from './presences/presences.controller.js';
import { ProfileController } from './users/profile.controller.js';

/** What the controllers work with. */
export interface AppServices {
  directory: Directory;
  messages: MessageReader;
  groups: GroupReader;
  commands: CommandClient;
  settings: Settings;
  rateLimits: RateLimits;
  idempotencyKeys: IdempotencyKeys;
  media: {
    reader: MediaReader;
    uploads: MediaUploads;
    intake: MediaIntake;
    places: UploadPlaces;
    limits: MediaLimits;
    retentionMs: number;
  };
}

/**
 * The 56 endpoints. In front of all of them stands the access chain (access/access-chain.ts: 401, 501, 402, 429, 413);
 * whatever is thrown leaves through the filter of http-server.
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
        MediaMessagesController,
        MessageActionsController,
        LinkPreviewController,
        StatusesController,
        ChatsController,
        ContactsController,
        PresencesController,
        ProfileController,
        GroupLinksController,
        GroupsController,
        MediaController,
        NotImplementedController,
      ],
      providers: [
        { provide: ChannelDirectory, useValue: services.directory },
        { provide: MessageReader, useValue: services.messages },
        { provide: GroupReader, useValue: services.groups },
        { provide: CommandClient, useValue: services.commands },
        { provide: Settings, useValue: services.settings },
        { provide: RateLimits, useValue: services.rateLimits },
        { provide: IdempotencyKeys, useValue: services.idempotencyKeys },
        ChannelCommands,
        { provide: LoginImages, useFactory: () => new LoginImages() },
        { provide: MediaReader, useValue: services.media.reader },
        { provide: MediaUploads, useValue: services.media.uploads },
        { provide: FreshLinks, useValue: new FreshLinks(services.media.reader) },
        {
          provide: StoredFiles,
          inject: [ChannelCommands],
          useFactory: (commands: ChannelCommands) =>
            new StoredFiles({ ...services.media, messages: services.messages, commands }),
        },
        {
          provide: RequestFiles,
          inject: [StoredFiles],
          useFactory: (stored: StoredFiles) => new RequestFiles({ ...services.media, stored }),
        },
      ],
    };
  }
}
