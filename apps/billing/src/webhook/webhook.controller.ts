import type { Logger } from '@dormouse/bootstrap';
import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { TurnKick } from '../customers/turn-kick.js';
import { LOG } from '../services.js';
import { StripeSide } from '../stripe/stripe-side.js';
import { readSignedEvent } from './signed-event.js';

/** What Stripe posts to: verified, stored, answered. The facts are read after the answer. */
@Controller('stripe')
export class WebhookController {
  constructor(
    @Inject(StripeSide) private readonly side: StripeSide,
    @Inject(TurnKick) private readonly turns: TurnKick,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @Post('webhook')
  @HttpCode(200)
  async receive(@Req() request: FastifyRequest): Promise<{ received: true }> {
    const { stripe, webhook, events } = this.side;
    const event = readSignedEvent(stripe, webhook, request.body, request.headers['stripe-signature']);
    const accountId = await events.receive(event);
    this.log.info({ event: event.id, type: event.type, accountId }, 'event of Stripe received');
    if (accountId !== undefined) this.turns.kick(accountId);
    return { received: true };
  }
}
