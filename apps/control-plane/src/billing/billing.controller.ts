import { valid } from '@dormouse/http-server';
import {
  billedNumbersQuery,
  changeBillingBody,
  checkoutBody,
  invoicesQuery,
  previewBody,
  type BilledNumberList,
  type BilledNumbersQuery,
  type BillingPage,
  type BillingPreview,
  type BillingRecord,
  type ChangeBillingBody,
  type CheckoutBody,
  type InvoiceList,
  type InvoicesQuery,
  type PreviewBody,
} from '@dormouse/management-contract';
import { Body, Controller, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { CurrentAccount, CurrentCaller, CurrentCause } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import type { Caller } from '../accounts/caller.js';
import type { Cause } from '../accounts/cause.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { Billing } from './billing.js';

@Controller('billing')
export class BillingController {
  constructor(
    private readonly billing: Billing,
    private readonly channels: ChannelEntries,
  ) {}

  @Get()
  get(@CurrentAccount() account: Account): Promise<BillingRecord> {
    return this.billing.read(account.id);
  }

  @Get('numbers')
  async numbers(
    @CurrentAccount() account: Account,
    @Query(valid(billedNumbersQuery)) query: BilledNumbersQuery,
  ): Promise<BilledNumberList> {
    const { numbers, total } = await this.billing.numbers(account.id, query);
    const names = await this.channels.namesOf(
      account.id,
      numbers.map(({ channel }) => channel),
    );
    return { numbers: numbers.map((number) => ({ ...number, name: names.get(number.channel) })), total };
  }

  @Patch()
  change(
    @CurrentAccount() account: Account,
    @CurrentCause() cause: Cause,
    @Body(valid(changeBillingBody)) body: ChangeBillingBody,
  ): Promise<BillingRecord> {
    return this.billing.change(account, body, cause);
  }

  @Post('preview')
  @HttpCode(200)
  preview(@CurrentAccount() account: Account, @Body(valid(previewBody)) body: PreviewBody): Promise<BillingPreview> {
    return this.billing.preview(account, body);
  }

  @Post('checkout')
  @HttpCode(200)
  checkOut(
    @CurrentAccount() account: Account,
    @CurrentCaller() caller: Caller,
    @CurrentCause() cause: Cause,
    @Body(valid(checkoutBody)) body: CheckoutBody,
  ): Promise<BillingPage> {
    const email = caller.kind === 'user' ? caller.signedIn.user.email : null;
    return this.billing.checkOut(account, body, email, cause);
  }

  @Post('portal')
  @HttpCode(200)
  openPortal(@CurrentAccount() account: Account, @CurrentCause() cause: Cause): Promise<BillingPage> {
    return this.billing.openPortal(account, cause);
  }

  @Get('invoices')
  invoices(
    @CurrentAccount() account: Account,
    @Query(valid(invoicesQuery)) query: InvoicesQuery,
  ): Promise<InvoiceList> {
    return this.billing.invoices(account, query);
  }
}
