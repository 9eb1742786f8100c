import {
  addressBody,
  firstOwnerBody,
  resetPasswordBody,
  signInBody,
  signInCodeBody,
  signUpBody,
  startIdentityProviderBody,
  verifyAddressBody,
  type AddressBody,
  type Done,
  type FirstOwnerBody,
  type IdentityProviderAddress,
  type ResetPasswordBody,
  type SignInAnswer,
  type SignInBody,
  type SignInCodeBody,
  type SignInOptions,
  type SignUpBody,
  type StartIdentityProviderBody,
  type VerifyAddressBody,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../accounts/account.guard.js';
import { SignIn } from './sign-in.js';
import { callbackQuery } from './signing-in.js';
import { sendCookies, visitorOf } from './visitor.js';

/** What needs no session. */
@Controller('auth')
export class SigningInController {
  constructor(private readonly signIn: SignIn) {}

  @Get('options')
  options(): SignInOptions {
    return this.signIn.options();
  }

  @Post('sign-up')
  @HttpCode(200)
  signUp(@Body(valid(signUpBody)) body: SignUpBody, @Req() request: FastifyRequest): Promise<Done> {
    return this.signIn.parts.signingUp.signUp(body, visitorOf(request));
  }

  @Post('verification-mail')
  @HttpCode(200)
  sendVerification(@Body(valid(addressBody)) { email }: AddressBody, @Req() request: FastifyRequest): Promise<Done> {
    return this.signIn.parts.signingUp.sendVerification(email, visitorOf(request));
  }

  @Post('verify-address')
  @HttpCode(200)
  async verify(
    @Body(valid(verifyAddressBody)) { token }: VerifyAddressBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Done> {
    return sendCookies(reply, await this.signIn.parts.signingUp.verifyAddress(token, visitorOf(request)));
  }

  @Post('first-owner')
  @HttpCode(200)
  async acceptFirstOwner(@Body(valid(firstOwnerBody)) { token, ...user }: FirstOwnerBody): Promise<Done> {
    await this.signIn.acceptFirstOwner(token, user);
    return { success: true };
  }

  @Post('password-reset')
  @HttpCode(200)
  requestReset(@Body(valid(addressBody)) { email }: AddressBody, @Req() request: FastifyRequest): Promise<Done> {
    return this.signIn.parts.signingUp.requestReset(email, visitorOf(request));
  }

  @Post('password-reset/confirm')
  @HttpCode(200)
  reset(@Body(valid(resetPasswordBody)) body: ResetPasswordBody, @Req() request: FastifyRequest): Promise<Done> {
    return this.signIn.parts.signingUp.reset(body, visitorOf(request));
  }

  @Post('sign-in')
  @HttpCode(200)
  async signInByPassword(
    @Body(valid(signInBody)) body: SignInBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignInAnswer> {
    return sendCookies(reply, await this.signIn.parts.signingIn.signIn(body, visitorOf(request)));
  }

  @Post('sign-in/code')
  @HttpCode(200)
  async signInWithCode(
    @Body(valid(signInCodeBody)) body: SignInCodeBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignInAnswer> {
    return sendCookies(reply, await this.signIn.parts.signingIn.signInWithCode(body, visitorOf(request)));
  }

  @Post('identity-provider')
  @HttpCode(200)
  async startIdentityProvider(
    @Body(valid(startIdentityProviderBody)) body: StartIdentityProviderBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IdentityProviderAddress> {
    return sendCookies(reply, await this.signIn.parts.signingIn.startIdentityProvider(body, visitorOf(request)));
  }

  /** Where the identity provider sends browsers back to: no operation for clients. */
  @Public()
  @Get('callback/oidc')
  async finishIdentityProvider(
    @Query(valid(callbackQuery)) query: Record<string, string>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { signingIn } = this.signIn.parts;
    const { location } = sendCookies(reply, await signingIn.finishIdentityProvider(query, visitorOf(request)));
    void reply.header('referrer-policy', 'no-referrer').redirect(location, 303);
  }
}
