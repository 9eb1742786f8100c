import type { Caller } from '../access/current-channel.js';
import { ChannelDirectory } from '@dormouse/channel-directory';
import type { CommandInput, CommandName, CommandResult } from '@dormouse/gateway-contract';
import { CommandClient } from '@dormouse/queues';
import { Injectable } from '@nestjs/common';
import { IdempotencyKeys } from './idempotency-keys.js';
import { requireLinked } from './sendable.js';

/** Commands to the worker of a linked channel, with an idempotency key or without. */
@Injectable()
export class ChannelCommands {
  constructor(
    private readonly commands: CommandClient,
    private readonly directory: ChannelDirectory,
    private readonly keys: IdempotencyKeys,
  ) {}

  /**
   * Calls a command. With a key it is carried out once, however many times the request is repeated.
   * @param digestInput what identifies the request, where `input` does not (media gets a new id in each repetition)
   * @throws {GatewayError} 503 while the channel is not linked; see {@link IdempotencyKeys} and the command
   */
  async call<Name extends CommandName>(
    caller: Caller,
    name: Name,
    input: CommandInput<Name>,
    digestInput: unknown = input,
  ): Promise<CommandResult<Name>> {
    const { channel, requestId, idempotencyKey: key, gaveUp } = caller;
    if (key === undefined) return this.callWorker(caller, name, input, { requestId, gaveUp });
    return this.keys.answer({ channelId: channel.id, key, content: [name, digestInput] }, (sendAs) =>
      this.callWorker(caller, name, input, { requestId, sendAs, gaveUp }),
    );
  }

  /**
   * Calls a command whose repetition changes nothing, or shows in its answer what the first one did: an idempotency key has no
   * meaning there.
   * @throws {GatewayError} 503 while the channel is not linked; see the command
   */
  callWithoutKey<Name extends CommandName>(
    caller: Caller,
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandResult<Name>> {
    const { requestId, gaveUp } = caller;
    return this.callWorker(caller, name, input, { requestId, gaveUp });
  }

  private async callWorker<Name extends CommandName>(
    { channel }: Caller,
    name: Name,
    input: CommandInput<Name>,
    options: { requestId: string; sendAs?: string; gaveUp?: AbortSignal | undefined },
  ): Promise<CommandResult<Name>> {
    await requireLinked(channel, this.directory);
    return this.commands.call(channel, name, input, options);
  }
}
