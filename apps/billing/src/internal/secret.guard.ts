import { GatewayError } from '@dormouse/gateway-contract';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BILLING_SECRET } from '../services.js';
import { createHash, timingSafeEqual } from 'node:crypto';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Requires `Authorization: Bearer <BILLING_SECRET>`, compared in constant time. */
@Injectable()
export class SecretGuard implements CanActivate {
  readonly #expected: Buffer;

  constructor(@Inject(BILLING_SECRET) secret: string) {
    this.#expected = hashOf(`Bearer ${secret}`);
  }

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (timingSafeEqual(hashOf(headers.authorization ?? ''), this.#expected)) return true;
    throw new GatewayError(401, {
      message: 'billing secret missing or invalid',
      details: 'Authorization: Bearer <BILLING_SECRET> is needed',
    });
  }
}
