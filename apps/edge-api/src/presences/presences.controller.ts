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
  setOwn(@CurrentCaller() caller: Caller, @Body(valid(setOwnPresenceBody)) body: SetOwnPresenceBody): Promise<Success> {
    return this.commands.callWithoutKey(caller, 'presences.setOwn', body);
  }

  /** Answers at once; an indicator with a delay ends by itself. */
  @Put(':EntryID')
  send(
    @CurrentCaller() caller: Caller,
    @Param() path: Record<string, string>,
    @Body(valid(sendPresenceBody)) body: SendPresenceBody,
  ): Promise<Success> {
    const { EntryID: to } = parseInput(entryIdPath, path);
    return this.commands.callWithoutKey(caller, 'presences.send', { to, ...body });
  }
}
