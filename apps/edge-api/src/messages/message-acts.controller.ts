import {
  GatewayError,
  postMessageAction,
  putMessageAction,
  reactionBody,
  type EditResult,
  type ReactionBody,
  type SentMessage,
  type Success,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { Body, Controller, Delete, HttpCode, Param, Post, Put } from '@nestjs/common';
import { Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RateLimits } from '../access/rate-limits.js';
import { valid } from '../body/valid.js';
import { requireLinked } from './sendable.js';
import { Sends, type SendCaller } from './sends.js';
import { ChannelDirectory } from '@dormouse/channel-directory';

/** What is done to one message. Ids that this channel does not have are 404, whatever they look like. */
@Controller('messages/:MessageID')
export class MessageActsController {
  constructor(
    private readonly sends: Sends,
    private readonly messages: MessageReader,
    private readonly directory: ChannelDirectory,
    private readonly rateLimits: RateLimits,
  ) {}

  /** Forwards it when the body says to whom, else marks it as read. */
  @Post()
  @HttpCode(200)
  async post(
    @Caller() caller: SendCaller,
    @Param('MessageID') messageId: string,
    @Body() body: unknown,
  ): Promise<SentMessage | Success> {
    const action = postMessageAction(body);
    if (action.action === 'forward') await this.rateLimits.take('sends', caller.channel.id);
    await this.requireKnown(caller, messageId);
    return action.action === 'forward'
      ? this.sends.send(caller, 'messages.forward', { messageId, ...action.body })
      : this.act(caller, 'messages.markRead', { messageId });
  }

  /** Edits it when there is a body, else marks it as read. */
  @Put()
  async put(
    @Caller() caller: SendCaller,
    @Param('MessageID') messageId: string,
    @Body() body: unknown,
  ): Promise<EditResult | Success> {
    const action = putMessageAction(body);
    if (action.action === 'edit') await this.rateLimits.take('sends', caller.channel.id);
    await this.requireKnown(caller, messageId);
    return action.action === 'edit'
      ? this.act(caller, 'messages.edit', { messageId, ...action.body })
      : this.act(caller, 'messages.markRead', { messageId });
  }

  @Delete()
  @Endpoint({ rate: 'messageActs', ignoresBody: true })
  async remove(@Caller() caller: SendCaller, @Param('MessageID') messageId: string): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.act(caller, 'messages.delete', { messageId });
  }

  @Put('reaction')
  @Endpoint({ rate: 'messageActs' })
  async react(
    @Caller() caller: SendCaller,
    @Param('MessageID') messageId: string,
    @Body(valid(reactionBody)) { emoji }: ReactionBody,
  ): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.act(caller, 'messages.react', { messageId, emoji });
  }

  @Delete('reaction')
  @Endpoint({ rate: 'messageActs', ignoresBody: true })
  async unreact(@Caller() caller: SendCaller, @Param('MessageID') messageId: string): Promise<Success> {
    await this.requireKnown(caller, messageId);
    return this.act(caller, 'messages.react', { messageId, emoji: '' });
  }

  /** Doing it twice does no more than once: no key is needed. */
  private act: Sends['send'] = ({ channel, requestId }, name, input) =>
    this.sends.send({ channel, requestId }, name, input);

  /** Before anybody is woken for it. */
  private async requireKnown({ channel }: SendCaller, messageId: string): Promise<void> {
    await requireLinked(channel, this.directory);
    if (await this.messages.message(channel.id, messageId)) return;
    throw new GatewayError(404, { details: 'MessageID: no such message' });
  }
}
