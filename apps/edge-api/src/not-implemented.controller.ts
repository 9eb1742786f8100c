import { Controller, Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { Endpoint } from './access/endpoint.js';

/** These answer 501 for ever. The access chain does it (order: before 402 and 429), so no method is ever entered. */
@Controller()
export class NotImplementedController {
  /** Stars live in the phone's app; not supported. */
  @Put('messages/:MessageID/star')
  @Endpoint({ implemented: false })
  starMessage(): void {}

  /** Presence updates arrive through webhooks. */
  @Post('presences/:EntryID')
  @Endpoint({ implemented: false })
  subscribePresence(): void {}
}

/** Listed endpoints that are still to be built: 501 until a controller of their own takes the path off this page. */
@Controller()
export class NotBuiltController {
  @Get([
    'users/profile',
    'contacts',
    'contacts/:ContactID',
    'contacts/:ContactID/profile',
    'media',
    'media/:MediaID',
  ])
  @Endpoint({ implemented: false })
  read(): void {}

  @Post([
    'messages/image',
    'messages/video',
    'messages/audio',
    'messages/voice',
    'messages/document',
    'messages/sticker',
    'chats/:ChatID',
    'contacts',
    'media',
  ])
  @Endpoint({ implemented: false })
  add(): void {}

  @Put(['presences/me', 'presences/:EntryID'])
  @Endpoint({ implemented: false })
  replace(): void {}

  @Patch(['users/profile', 'chats/:ChatID'])
  @Endpoint({ implemented: false })
  change(): void {}

  @Delete([
    'chats/:ChatID',
    'media/:MediaID',
  ])
  @Endpoint({ implemented: false })
  remove(): void {}
}
