import { Module } from '@nestjs/common';
import { OffController } from './off.controller.js';
import { SecretGuard } from './secret.guard.js';

/** Billing without Stripe. */
@Module({ controllers: [OffController], providers: [SecretGuard] })
export class OffModule {}
