import { GatewayError } from '@dormouse/gateway-contract';
import {
  BILLING_OFF,
  type BilledNumberList,
  type BilledNumbersQuery,
  type BillingPage,
  type BillingPreview,
  type BillingRecord,
  type ChangeBillingBody,
  type CheckoutBody,
  type FreeNumbers,
  type FreeNumbersBody,
  type InvoiceList,
  type InvoicesQuery,
  type PreviewBody,
} from '@dormouse/management-contract';
import type { Account } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import type { BillingClient } from './billing-client.js';

/** What an account pays. Without an address of billing, billing is off. */
export class Billing {
  constructor(private readonly client: BillingClient | undefined) {}

  /** @throws {GatewayError} 503 while billing is away */
  async read(accountId: string): Promise<BillingRecord> {
    return this.client ? this.client.call('read', { accountId }) : BILLING_OFF;
  }

  /** The numbers that count, without the names of their channels. @throws {GatewayError} 503 while billing is away */
  async numbers(accountId: string, page: BilledNumbersQuery): Promise<BilledNumberList> {
    return this.client ? this.client.call('numbers', { accountId, ...page }) : { numbers: [], total: 0 };
  }

  async change({ id: accountId }: Account, change: ChangeBillingBody, cause: Cause): Promise<BillingRecord> {
    return this.#on().call('change', { accountId, change, requester: requesterOf(cause) });
  }

  async preview({ id: accountId }: Account, preview: PreviewBody): Promise<BillingPreview> {
    return this.#on().call('preview', { accountId, preview });
  }

  /** @param email of the person who buys, where it is known: Stripe's page shows it */
  async checkOut(account: Account, checkout: CheckoutBody, email: string | null, cause: Cause): Promise<BillingPage> {
    const { id: accountId, name: accountName } = account;
    const requester = requesterOf(cause);
    return this.#on().call('checkout', { accountId, accountName, email, checkout, requester });
  }

  async openPortal({ id: accountId }: Account, cause: Cause): Promise<BillingPage> {
    return this.#on().call('portal', { accountId, requester: requesterOf(cause) });
  }

  async invoices({ id: accountId }: Account, { count, after }: InvoicesQuery): Promise<InvoiceList> {
    if (!this.client) return { invoices: [], next: null };
    return this.client.call('invoices', { accountId, count, ...(after === undefined ? {} : { after }) });
  }

  /**
   * Ends what an account pays, as a part of the account's end. Repeating it has the same result.
   * @throws {GatewayError} 503 while billing or Stripe is away
   */
  async end(accountId: string, cause: Cause): Promise<void> {
    await this.client?.call('end', { accountId, requester: requesterOf(cause) });
  }

  /** Free numbers of an account. @throws {GatewayError} 409 while billing is off: every number is free */
  async freeNumbers(accountId: string): Promise<FreeNumbers> {
    return this.#on().call('free-numbers', { accountId });
  }

  async giveFreeNumbers(accountId: string, given: FreeNumbersBody, cause: Cause): Promise<FreeNumbers> {
    return this.#on().call('give-free-numbers', { accountId, given, requester: requesterOf(cause) });
  }

  async endFreeNumbers(accountId: string, cause: Cause): Promise<FreeNumbers> {
    return this.#on().call('end-free-numbers', { accountId, requester: requesterOf(cause) });
  }

  #on(): BillingClient {
    if (this.client) return this.client;
    throw new GatewayError(409, {
      message: 'billing is off',
      details: 'this installation charges nothing, so there is nothing to buy; every number is served',
    });
  }
}

function requesterOf({ actor, address, requestId }: Cause) {
  const { kind, id, name } = actor;
  if (kind === 'stripe') throw new Error('Stripe makes no requests here');
  return {
    actor: { kind, id, ...(name === undefined ? {} : { name }) },
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}
