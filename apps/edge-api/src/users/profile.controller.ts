import { GatewayError, updateProfileBody, type Success, type UserProfile } from '@dormouse/gateway-contract';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { Controller, Get, Patch, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RequestFiles } from '../media/request-files.js';
import { requireLinked } from '../messages/sendable.js';
import { ChannelCommands } from '../messages/channel-commands.js';

/** Name, about and picture of the channel's own number. */
@Controller('users/profile')
export class ProfileController {
  constructor(
    private readonly commands: ChannelCommands,
    private readonly files: RequestFiles,
    private readonly directory: ChannelDirectory,
  ) {}

  @Get()
  get(@CurrentCaller() caller: Caller): Promise<UserProfile> {
    return this.commands.callWithoutKey(caller, 'profile.get', {});
  }

  /** The picture comes like the file of a send: URL, data: URI, base64, media id, or a part of a form. */
  @Patch()
  @Endpoint({ file: 'icon' })
  update(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<Success> {
    const endpoint = { schema: updateProfileBody, field: 'icon', kind: 'icon' } as const;
    return this.files.receive(request, endpoint, async ({ icon, ...fields }, file) => {
      await requireLinked(caller.channel, this.directory); // before a file is stored in vain
      const kept = icon && (await file.store(caller, icon, 'sent', {}).catch(unknownFile));
      return this.commands.callWithoutKey(caller, 'profile.update', { ...fields, ...(kept && { icon: kept.id }) });
    });
  }
}

/** There is no 404 here in the contract: nothing in the path is missing. */
function unknownFile(error: unknown): never {
  if (!(error instanceof GatewayError) || error.status !== 404) throw error;
  throw new GatewayError(400, { details: error.details ?? 'icon: no such media id' }, { cause: error });
}
