import { ChannelDirectory } from '@dormouse/channel-directory';
import { GatewayError, type Success } from '@dormouse/gateway-contract';
import { CommandClient } from '@dormouse/queues';
import { valid } from '@dormouse/http-server';
import { Controller, Get, Header, HttpCode, Post, Query, StreamableFile } from '@nestjs/common';
import { CurrentCaller, type Caller } from '../access/current-channel.js';
import { loginImageQuery, type LoginImageQuery } from './login-image.js';
import { LoginImages } from './login-images.js';

@Controller('users')
export class UsersController {
  constructor(
    private readonly commands: CommandClient,
    private readonly directory: ChannelDirectory,
    private readonly images: LoginImages,
  ) {}

  /** The current code of the pairing in progress; starts a pairing when there is none. */
  @Get('login/image')
  @Header('cache-control', 'no-store')
  async loginImage(
    @CurrentCaller() { channel, requestId, gaveUp }: Caller,
    @Query(valid(loginImageQuery)) query: LoginImageQuery,
  ): Promise<StreamableFile> {
    const { session } = channel;
    if (!query.wakeup && session.state !== 'qr' && !session.linked) {
      throw new GatewayError(503, { details: 'no pairing is running: ask without wakeup=false to start one' });
    }
    if (session.linked) throw new GatewayError(403, { details: 'the number is linked: POST /users/logout first' });
    const { code } = await this.commands.call(channel, 'channel.loginCode', {}, { requestId, gaveUp });
    return new StreamableFile(await this.images.get(code, query), { type: 'image/png' });
  }

  /** Unlinks the number, or ends a pairing in progress. Succeeds when there is nothing to unlink. */
  @Post('logout')
  @HttpCode(200)
  async logout(@CurrentCaller() { channel, requestId, gaveUp }: Caller): Promise<Success> {
    // The cached record may be a second old, and a number linked in that second must be unlinked.
    const fresh = await this.directory.refresh(channel.id);
    if (fresh && !fresh.session.linked && fresh.session.state === 'closed') return { success: true };
    return this.commands.call(channel, 'channel.logout', {}, { requestId, gaveUp });
  }
}
