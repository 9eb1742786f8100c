import type { ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError, type StatusesList } from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { Controller, Get, Param } from '@nestjs/common';
import { CurrentChannel } from '../access/current-channel.js';

@Controller('statuses')
export class StatusesController {
  constructor(private readonly messages: MessageReader) {}

  /** Of own messages only: 403 for a received one. */
  @Get(':MessageID')
  async statuses(
    @CurrentChannel() { id }: ChannelRecord,
    @Param('MessageID') messageId: string,
  ): Promise<StatusesList> {
    const statuses = await this.messages.statuses(id, messageId);
    if (!statuses) throw new GatewayError(404, { details: 'MessageID: no such message' });
    return statuses;
  }
}
