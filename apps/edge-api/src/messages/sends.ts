import { ChannelDirectory, type ChannelRecord } from '@dormouse/channel-directory';
import type { CommandInput, CommandName, CommandResult } from '@dormouse/gateway-contract';
import { CommandClient } from '@dormouse/queues';
import { Injectable } from '@nestjs/common';
import { IdempotencyKeys } from './idempotency-keys.js';
import { requireLinked } from './sendable.js';

/** Who asks for a send, and under which key. */
export interface SendCaller {
  channel: ChannelRecord;
  requestId: string;
  /** The `Idempotency-Key` header. */
  idempotencyKey?: string | undefined;
}

/** Commands that say something to the network: sends, under a key or not, and acts. */
@Injectable()
export class Sends {
  constructor(
    private readonly commands: CommandClient,
    private readonly directory: ChannelDirectory,
    private readonly keys: IdempotencyKeys,
  ) {}

  /**
   * Says a command; under a key it is said once, however often it is asked for.
   * @param said what was asked, where the input does not tell (media is given an id of its own each time)
   * @throws {GatewayError} 503 while the channel is not linked; see {@link IdempotencyKeys} and the command
   */
  async send<Name extends CommandName>(
    caller: SendCaller,
    name: Name,
    input: CommandInput<Name>,
    said: unknown = input,
  ): Promise<CommandResult<Name>> {
    const { channel, requestId, idempotencyKey: key } = caller;
    if (key === undefined) return this.say(caller, name, input, { requestId });
    return this.keys.answer({ channelId: channel.id, key, asked: [name, said] }, (sendAs) =>
      this.say(caller, name, input, { requestId, sendAs }),
    );
  }

  private async say<Name extends CommandName>(
    { channel }: SendCaller,
    name: Name,
    input: CommandInput<Name>,
    options: { requestId: string; sendAs?: string },
  ): Promise<CommandResult<Name>> {
    await requireLinked(channel, this.directory);
    return this.commands.call(channel, name, input, options);
  }
}
