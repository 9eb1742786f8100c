import {
  addressBody,
  changePasswordBody,
  confirmSecondFactorBody,
  proveBody,
  renameUserBody,
  startSecondFactorBody,
  type AddressBody,
  type ChangePasswordBody,
  type ConfirmSecondFactorBody,
  type CurrentSession,
  type Done,
  type ProveBody,
  type RecoveryCodes,
  type RenameUserBody,
  type SecondFactorSecrets,
  type SessionList,
  type StartSecondFactorBody,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Own } from './own-user.js';
import { SignIn } from './sign-in.js';
import { CurrentUser } from './current-user.js';
import { sendCookies } from './visitor.js';

/** What users see and change of themselves. */
@Controller('auth')
export class OwnUserController {
  constructor(private readonly signIn: SignIn) {}

  @Get('session')
  async session(@CurrentUser() own: Own, @Res({ passthrough: true }) reply: FastifyReply): Promise<CurrentSession> {
    return sendCookies(reply, await this.signIn.parts.ownUser.session(own));
  }

  @Get('sessions')
  sessions(@CurrentUser() own: Own): Promise<SessionList> {
    return this.signIn.parts.ownUser.sessions(own);
  }

  @Post('sign-out')
  @HttpCode(200)
  async signOut(@CurrentUser() own: Own, @Res({ passthrough: true }) reply: FastifyReply): Promise<Done> {
    return sendCookies(reply, await this.signIn.parts.ownUser.signOut(own));
  }

  @Delete('sessions')
  async endSessions(@CurrentUser() own: Own, @Res({ passthrough: true }) reply: FastifyReply): Promise<Done> {
    return sendCookies(reply, await this.signIn.parts.ownUser.endSessions(own));
  }

  @Delete('sessions/:id')
  endSession(@CurrentUser() own: Own, @Param('id') id: string): Promise<Done> {
    return this.signIn.parts.ownUser.endSession(id, own);
  }

  @Post('prove')
  @HttpCode(200)
  prove(@CurrentUser() own: Own, @Body(valid(proveBody)) body: ProveBody): Promise<CurrentSession> {
    return this.signIn.parts.ownUser.prove(body, own);
  }

  @Post('password')
  @HttpCode(200)
  async changePassword(
    @CurrentUser() own: Own,
    @Body(valid(changePasswordBody)) body: ChangePasswordBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Done> {
    return sendCookies(reply, await this.signIn.parts.ownUser.changePassword(body, own));
  }

  @Post('name')
  @HttpCode(200)
  rename(@CurrentUser() own: Own, @Body(valid(renameUserBody)) { name }: RenameUserBody): Promise<Done> {
    return this.signIn.parts.ownUser.rename(name, own);
  }

  @Post('address')
  @HttpCode(200)
  changeAddress(@CurrentUser() own: Own, @Body(valid(addressBody)) { email }: AddressBody): Promise<Done> {
    return this.signIn.parts.ownUser.changeAddress(email, own);
  }

  @Post('second-factor')
  @HttpCode(200)
  startSecondFactor(
    @CurrentUser() own: Own,
    @Body(valid(startSecondFactorBody)) body: StartSecondFactorBody,
  ): Promise<SecondFactorSecrets> {
    return this.signIn.parts.ownUser.startSecondFactor(body, own);
  }

  @Post('second-factor/confirm')
  @HttpCode(200)
  async confirmSecondFactor(
    @CurrentUser() own: Own,
    @Body(valid(confirmSecondFactorBody)) { code }: ConfirmSecondFactorBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Done> {
    return sendCookies(reply, await this.signIn.parts.ownUser.confirmSecondFactor(code, own));
  }

  @Post('second-factor/recovery-codes')
  @HttpCode(200)
  renewRecoveryCodes(
    @CurrentUser() own: Own,
    @Body(valid(startSecondFactorBody)) body: StartSecondFactorBody,
  ): Promise<RecoveryCodes> {
    return this.signIn.parts.ownUser.renewRecoveryCodes(body, own);
  }

  @Delete('second-factor')
  removeSecondFactor(@CurrentUser() own: Own): Promise<Done> {
    return this.signIn.parts.ownUser.removeSecondFactor(own);
  }
}
