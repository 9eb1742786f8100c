import type { GlobalDatabase } from '@dormouse/database';
import type { MailAudience } from '@dormouse/mail-outbox';
import type { Recipients } from './recipients.js';
import type { MailAddress } from './smtp-transport.js';

/** Roles of the members that an audience is made of. */
const ROLES: Record<MailAudience, string[]> = { owners: ['owner'], billing: ['owner', 'billing'] };

/** Users and the members of accounts, read at every look-up. */
export class MemberRecipients implements Recipients {
  constructor(private readonly database: Pick<GlobalDatabase, 'prisma'>) {}

  async addressOf(userId: string): Promise<MailAddress | undefined> {
    const select = { email: true, name: true } as const;
    const user = await this.database.prisma.user.findUnique({ where: { id: userId }, select });
    return user ? { address: user.email, name: user.name } : undefined;
  }

  async usersOf(accountId: string, audience: MailAudience): Promise<string[]> {
    const members = await this.database.prisma.membership.findMany({
      where: { accountId, role: { in: ROLES[audience] }, account: { deletedAt: null } },
      select: { userId: true },
      orderBy: { createdAt: 'asc' },
    });
    return members.map(({ userId }) => userId);
  }

  async operators(): Promise<string[]> {
    const select = { id: true } as const;
    const users = await this.database.prisma.user.findMany({
      where: { isOperator: true },
      select,
      orderBy: { id: 'asc' },
    });
    return users.map(({ id }) => id);
  }
}
