import type { GlobalDatabase } from '@dormouse/database';
import type { OperatorAccount, OperatorAccountList, OperatorAccountsQuery } from '@dormouse/management-contract';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { accountNotFound } from '../accounts/accounts.js';
import type { Billing } from '../billing/billing.js';

/** What an account pays is read from billing, several accounts at a time; one that is slow or away delays the list by this at most. */
const BILLING_AT_ONCE = 8;
const BILLING_TIMEOUT_MS = 2_000;

const LIVE = { deletedAt: null, unsettledSince: null };

/** Accounts as operators see them, with what they pay if billing answers. */
export class OperatorAccounts {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'prisma'>,
    private readonly billing: Pick<Billing, 'read'>,
  ) {}

  /** A page of accounts, the newest first. */
  async list({ search = '', cursor, count }: OperatorAccountsQuery): Promise<OperatorAccountList> {
    const contains = { contains: search.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' } as const;
    const owners = search.includes('@') ? await this.#accountsOfOwners(contains) : [];
    const found = { OR: [{ name: contains }, { id: search }, { id: { in: owners } }] };
    const rows = await this.#read(search === '' ? {} : found, count + 1, cursor);
    const shown = rows.slice(0, count);
    const next = rows.length > count ? shown.at(-1)?.id : undefined;
    return { accounts: await this.#withBilling(shown), ...(next === undefined ? {} : { next }) };
  }

  /** @throws {GatewayError} 404 */
  async get(id: string): Promise<OperatorAccount> {
    const [account] = await this.#withBilling(await this.#read({ id }, 1));
    if (!account) throw accountNotFound();
    return account;
  }

  async #accountsOfOwners(email: { contains: string; mode: 'insensitive' }): Promise<string[]> {
    const { user, membership } = this.database.prisma;
    const users = await user.findMany({ where: { email }, select: { id: true }, take: 100 });
    const ids = users.map(({ id }) => id);
    const owned = await membership.findMany({ where: { userId: { in: ids }, role: 'owner' } });
    return owned.map(({ accountId }) => accountId);
  }

  async #read(where: object, take: number, cursor?: string): Promise<Omit<OperatorAccount, 'billing'>[]> {
    const { account, user } = this.database.prisma;
    const rows = await account.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      take,
      ...(cursor === undefined ? {} : { cursor: { id: cursor }, skip: 1 }),
      include: { memberships: { where: { role: 'owner' } }, _count: { select: { channels: { where: LIVE } } } },
    });
    const ids = rows.flatMap(({ memberships }) => memberships.map(({ userId }) => userId));
    const users = new Map((await user.findMany({ where: { id: { in: ids } } })).map((one) => [one.id, one]));
    return rows.map(({ id, name, createdAt, deletedAt, memberships, _count }) => ({
      id,
      name,
      created_at: epochS(createdAt),
      ...(deletedAt ? { ended_at: epochS(deletedAt) } : {}),
      owners: memberships.flatMap(({ userId }) => {
        const owner = users.get(userId);
        return owner ? [{ name: owner.name, email: owner.email }] : [];
      }),
      channels: _count.channels,
    }));
  }

  async #withBilling(accounts: readonly Omit<OperatorAccount, 'billing'>[]): Promise<OperatorAccount[]> {
    const limit = pLimit(BILLING_AT_ONCE);
    const until = performance.now() + BILLING_TIMEOUT_MS;
    return Promise.all(
      accounts.map((account) =>
        limit(async () => {
          const billing = await this.#billingOf(account.id, until - performance.now());
          return { ...account, ...(billing ? { billing } : {}) };
        }),
      ),
    );
  }

  /** Undefined when billing does not answer in time. */
  async #billingOf(accountId: string, withinMs: number): Promise<OperatorAccount['billing']> {
    if (withinMs <= 0) return undefined;
    try {
      const reading = this.billing.read(accountId);
      const { plan, status, numbers, free, bought, open } = await pTimeout(reading, { milliseconds: withinMs });
      return { plan, status, numbers, free, bought, open: open.length };
    } catch {
      return undefined;
    }
  }
}

function epochS(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
