import { Module } from '@nestjs/common';
import { ChannelsModule } from '../channels/channels.module.js';
import { BILLING_ADDRESS } from '../services.js';
import { BillingClient, type BillingAddress } from './billing-client.js';
import { BillingController } from './billing.controller.js';
import { Billing } from './billing.js';
import { FreeNumbersController } from './free-numbers.controller.js';

@Module({
  imports: [ChannelsModule],
  controllers: [BillingController, FreeNumbersController],
  providers: [
    {
      provide: Billing,
      inject: [{ token: BILLING_ADDRESS, optional: true }],
      useFactory: (address: BillingAddress | undefined) => new Billing(address && new BillingClient(address)),
    },
  ],
  exports: [Billing],
})
export class BillingModule {}
