import { GatewayError } from '@dormouse/gateway-contract';
import {
  BILLING_OFF,
  type BillingCallAnswer,
  type BillingRecord,
  type InvoiceList,
} from '@dormouse/management-contract';
import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { SecretGuard } from './secret.guard.js';

/** What the control plane gets of a billing without Stripe: nothing is charged, and there is nothing to buy. */
@Controller('internal/billing')
@UseGuards(SecretGuard)
export class OffController {
  @Post('read')
  @HttpCode(200)
  read(): BillingRecord {
    return BILLING_OFF;
  }

  @Post('numbers')
  @HttpCode(200)
  numbers(): BillingCallAnswer<'numbers'> {
    return { numbers: [], total: 0 };
  }

  @Post('invoices')
  @HttpCode(200)
  invoices(): InvoiceList {
    return { invoices: [], next: null };
  }

  @Post('end')
  @HttpCode(200)
  end(): { ended: true } {
    return { ended: true };
  }

  @Post(['change', 'preview', 'checkout', 'portal'])
  buy(): never {
    throw new GatewayError(409, {
      message: 'billing is off',
      details: 'this installation charges nothing, so there is nothing to buy; every number is served',
    });
  }
}
