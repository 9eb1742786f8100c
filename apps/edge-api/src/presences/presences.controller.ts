import {
  entryIdPath,
  parseInput,
  sendPresenceBody,
  setOwnPresenceBody,
  type SendPresenceBody,
  type SetOwnPresenceBody,
  type Success,
} from '@dormouse/gateway-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Param, Put } from '@nestjs/common';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { ChannelCommands } from '../messages/channel-commands.js';

/** What others see of the channel: online, typing, recording. */
@Controller('presences')
export class PresencesController {
  constructor(private readonly commands: ChannelCommands) {}

  @Put('me')
  setOwn(
    @CurrentCaller() { channel, requestId, gaveUp }: Caller,
    @Body(valid(setOwnPresenceBody)) body: SetOwnPresenceBody,
  ): Promise<Success> {
    return this.commands.call({ channel, requestId, gaveUp }, 'presences.setOwn', body);
  }

  /** Answers at once; an indicator with a delay ends by itself. */
  @Put(':EntryID')
  send(
    @CurrentCaller() { channel, requestId, gaveUp }: Caller,
    @Param() path: Record<string, string>,
    @Body(valid(sendPresenceBody)) body: SendPresenceBody,
  ): Promise<Success> {
    const { EntryID: to } = parseInput(entryIdPath, path);
    return this.commands.call({ channel, requestId, gaveUp }, 'presences.send', { to, ...body });
  }
}
