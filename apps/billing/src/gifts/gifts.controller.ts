import { valid } from '@dormouse/http-server';
import { BILLING_CALLS, type BillingCallBody, type FreeNumbers } from '@dormouse/management-contract';
import { Body, Controller, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { SecretGuard } from '../internal/secret.guard.js';
import { Gifts } from './gifts.js';

/** Free numbers that operators give. The control plane decides who is one. */
@Controller('internal/billing')
@UseGuards(SecretGuard)
export class GiftsController {
  constructor(@Inject(Gifts) private readonly gifts: Gifts) {}

  @Post('free-numbers')
  @HttpCode(200)
  list(@Body(valid(BILLING_CALLS['free-numbers'].body)) body: BillingCallBody<'free-numbers'>): Promise<FreeNumbers> {
    return this.gifts.list(body.accountId);
  }

  @Post('give-free-numbers')
  @HttpCode(200)
  give(
    @Body(valid(BILLING_CALLS['give-free-numbers'].body)) body: BillingCallBody<'give-free-numbers'>,
  ): Promise<FreeNumbers> {
    return this.gifts.give(body.accountId, body.given, body.requester);
  }

  @Post('end-free-numbers')
  @HttpCode(200)
  end(
    @Body(valid(BILLING_CALLS['end-free-numbers'].body)) body: BillingCallBody<'end-free-numbers'>,
  ): Promise<FreeNumbers> {
    return this.gifts.end(body.accountId, body.requester);
  }
}
