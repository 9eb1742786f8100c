import {
  deadLettersQuery,
  deliveriesQuery,
  redriveBody,
  replayBody,
  rotateSecretBody,
  type DeadLetterList,
  type DeadLettersQuery,
  type DeliveriesQuery,
  type DeliveryList,
  type RedriveBody,
  type RedriveResult,
  type ReplayBody,
  type ReplayResult,
  type RotateSecretBody,
  type TestEventResult,
  type WebhookList,
  type WebhookSecretsShape,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentAccount, CurrentCause } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { Events } from './events.js';

@Controller('channels/:id')
export class WebhooksController {
  constructor(private readonly events: Events) {}

  @Get('webhook-secret')
  secrets(@CurrentAccount() account: Account, @Param('id') id: string): Promise<WebhookSecretsShape> {
    return this.events.secrets(account.id, id);
  }

  @Post('webhook-secret')
  @HttpCode(200)
  rotateSecret(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @CurrentCause() cause: Cause,
    @Body(valid(rotateSecretBody)) body: RotateSecretBody,
  ): Promise<WebhookSecretsShape> {
    return this.events.rotateSecret(account.id, id, body.old_valid_for_s * 1_000, cause);
  }

  @Get('webhooks')
  webhooks(@CurrentAccount() account: Account, @Param('id') id: string): Promise<WebhookList> {
    return this.events.webhooks(account.id, id);
  }

  @Get('webhooks/:webhook/deliveries')
  deliveries(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Param('webhook') webhook: string,
    @Query(valid(deliveriesQuery)) query: DeliveriesQuery,
  ): Promise<DeliveryList> {
    return this.events.deliveries(account.id, id, webhook, query);
  }

  @Get('webhooks/:webhook/dead-letters')
  deadLetters(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Param('webhook') webhook: string,
    @Query(valid(deadLettersQuery)) query: DeadLettersQuery,
  ): Promise<DeadLetterList> {
    return this.events.deadLetters(account.id, id, webhook, query);
  }

  @Post('webhooks/:webhook/dead-letters/redrive')
  @HttpCode(200)
  redrive(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Param('webhook') webhook: string,
    @CurrentCause() cause: Cause,
    @Body(valid(redriveBody)) body: RedriveBody,
  ): Promise<RedriveResult> {
    return this.events.redrive({ accountId: account.id, channelId: id, webhook }, body, cause);
  }

  @Post('webhooks/:webhook/replay')
  @HttpCode(200)
  replay(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Param('webhook') webhook: string,
    @CurrentCause() cause: Cause,
    @Body(valid(replayBody)) body: ReplayBody,
  ): Promise<ReplayResult> {
    return this.events.replay({ accountId: account.id, channelId: id, webhook }, body, cause);
  }

  @Post('webhooks/:webhook/test')
  @HttpCode(200)
  test(
    @CurrentAccount() account: Account,
    @Param('id') id: string,
    @Param('webhook') webhook: string,
    @CurrentCause() cause: Cause,
  ): Promise<TestEventResult> {
    return this.events.test({ accountId: account.id, channelId: id, webhook }, cause);
  }
}
