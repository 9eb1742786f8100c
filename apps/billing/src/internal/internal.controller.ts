import { valid } from '@dormouse/http-server';
import {
  BILLING_CALLS,
  type BillingCallAnswer,
  type BillingCallBody,
  type BillingPage,
  type BillingPreview,
  type BillingRecord,
  type InvoiceList,
} from '@dormouse/management-contract';
import { Body, Controller, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { StripeSide } from '../stripe/stripe-side.js';
import { SecretGuard } from './secret.guard.js';

/** What the control plane calls. Nobody else has the secret. */
@Controller('internal/billing')
@UseGuards(SecretGuard)
export class InternalController {
  constructor(@Inject(StripeSide) private readonly side: StripeSide) {}

  @Post('read')
  @HttpCode(200)
  read(@Body(valid(BILLING_CALLS.read.body)) { accountId }: BillingCallBody<'read'>): Promise<BillingRecord> {
    return this.side.accounts.read(accountId);
  }

  @Post('numbers')
  @HttpCode(200)
  numbers(
    @Body(valid(BILLING_CALLS.numbers.body)) body: BillingCallBody<'numbers'>,
  ): Promise<BillingCallAnswer<'numbers'>> {
    const { accountId, ...page } = body;
    return this.side.accounts.numbers(accountId, page);
  }

  @Post('change')
  @HttpCode(200)
  change(@Body(valid(BILLING_CALLS.change.body)) body: BillingCallBody<'change'>): Promise<BillingRecord> {
    return this.side.accounts.change(body.accountId, body.change, body.requester);
  }

  @Post('preview')
  @HttpCode(200)
  preview(@Body(valid(BILLING_CALLS.preview.body)) body: BillingCallBody<'preview'>): Promise<BillingPreview> {
    return this.side.accounts.preview(body.accountId, body.preview.numbers);
  }

  @Post('checkout')
  @HttpCode(200)
  checkOut(@Body(valid(BILLING_CALLS.checkout.body)) body: BillingCallBody<'checkout'>): Promise<BillingPage> {
    const { accountId, accountName, email, checkout, requester } = body;
    return this.side.accounts.checkOut(
      { accountId, accountName, email: email ?? null },
      checkout.numbers ?? undefined,
      requester,
    );
  }

  @Post('portal')
  @HttpCode(200)
  openPortal(@Body(valid(BILLING_CALLS.portal.body)) body: BillingCallBody<'portal'>): Promise<BillingPage> {
    return this.side.accounts.openPortal(body.accountId, body.requester);
  }

  @Post('invoices')
  @HttpCode(200)
  invoices(@Body(valid(BILLING_CALLS.invoices.body)) body: BillingCallBody<'invoices'>): Promise<InvoiceList> {
    const { accountId, ...page } = body;
    return this.side.accounts.invoices(accountId, page);
  }

  @Post('end')
  @HttpCode(200)
  async end(@Body(valid(BILLING_CALLS.end.body)) body: BillingCallBody<'end'>): Promise<BillingCallAnswer<'end'>> {
    await this.side.accountEnd.end(body.accountId, body.requester);
    return { ended: true };
  }
}
