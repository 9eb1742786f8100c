import {
  entryIdPath,
  parseInput,
  sendPresenceBody,
  setOwnPresenceBody,
  type SendPresenceBody,
  type SetOwnPresenceBody,
  type Success,
} from '@dormouse/gateway-contract';
import { Body, Controller, Param, Put } from '@nestjs/common';
import { Caller } from '../access/current-channel.js';
import { valid } from '../body/valid.js';
import { Sends, type SendCaller } from '../messages/sends.js';

/** What others see of the channel: online, typing, recording. */
@Controller('presences')
export class PresencesController {
  constructor(private readonly sends: Sends) {}

  @Put('me')
  setOwn(
    @Caller() { channel, requestId }: SendCaller,
    @Body(valid(setOwnPresenceBody)) body: SetOwnPresenceBody,
  ): Promise<Success> {
    return this.sends.send({ channel, requestId }, 'presences.setOwn', body);
  }

  /** Answers at once; an indicator with a delay ends by itself. */
  @Put(':EntryID')
  send(
    @Caller() { channel, requestId }: SendCaller,
    @Param() path: Record<string, string>,
    @Body(valid(sendPresenceBody)) body: SendPresenceBody,
  ): Promise<Success> {
    const { EntryID: to } = parseInput(entryIdPath, path);
    return this.sends.send({ channel, requestId }, 'presences.send', { to, ...body });
  }
}
