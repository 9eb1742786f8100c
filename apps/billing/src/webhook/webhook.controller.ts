import type { Logger } from '@dormouse/bootstrap';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Stripe } from 'stripe';
import type { TurnJobs } from '../customers/turn-jobs.js';
import { readSignedEvent, type WebhookTerms } from './signed-event.js';
import type { StripeEvents } from './stripe-events.js';

/** What Stripe posts to: verified, stored, answered. The facts are read after the answer. */
@Controller('stripe')
export class WebhookController {
  constructor(
    private readonly stripe: Stripe,
    private readonly terms: WebhookTerms,
    private readonly events: StripeEvents,
    private readonly turns: TurnJobs,
    private readonly log: Logger,
  ) {}

  @Post('webhook')
  @HttpCode(200)
  async receive(@Req() request: FastifyRequest): Promise<{ received: true }> {
    const event = readSignedEvent(this.stripe, this.terms, request.body, request.headers['stripe-signature']);
    const accountId = await this.events.receive(event);
    this.log.info({ event: event.id, type: event.type, accountId }, 'event of Stripe received');
    if (accountId !== undefined) this.turns.kick(accountId);
    return { received: true };
  }
}
