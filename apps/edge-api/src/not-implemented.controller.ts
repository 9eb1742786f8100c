import { Controller, Post, Put } from '@nestjs/common';
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
