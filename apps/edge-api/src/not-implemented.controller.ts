import { Controller, Post, Put } from '@nestjs/common';
import { Endpoint } from './access/endpoint.js';

/** These always answer 501. The access chain does it (before 402 and 429), so the methods are never called. */
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
