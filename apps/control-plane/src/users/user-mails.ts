/**
 * Mails about users: stored in the outbox, sent by `src/mail/`. Their links lead to pages of the
 * dashboard; a token follows `#`, so that it is in no server's log.
 * Without `SMTP_URL` nothing is stored: nobody would send it.
 */
import type { GlobalDatabase } from '@dormouse/database';
import { randomUUID } from 'node:crypto';
import { enqueueMail, type Mail } from '@dormouse/mail-outbox';

export const VERIFY_HOURS = 24;
export const RESET_MINUTES = 60;

export class UserMails {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly publicUrl: string,
    private readonly hasMail: boolean,
  ) {}

  /** To an address whose owner is to confirm it. */
  sendVerification(address: string, name: string, token: string): Promise<void> {
    return this.#enqueue({
      kind: 'verify-address',
      to: { address, name },
      reason: `verify-address:${randomUUID()}`,
      data: { link: this.#link('/verify-email', token), validForHours: VERIFY_HOURS },
    });
  }

  sendReset(userId: string, token: string): Promise<void> {
    return this.#enqueue({
      kind: 'reset-password',
      to: { userId },
      reason: `reset-password:${randomUUID()}`,
      data: { link: this.#link('/new-password', token), validForMinutes: RESET_MINUTES },
    });
  }

  /** To a user for whose address somebody signed up again: one a day. */
  sendSignUpAttempt(userId: string): Promise<void> {
    const day = new Date().toISOString().slice(0, 10);
    return this.#enqueue({
      kind: 'sign-up-attempt',
      to: { userId },
      reason: `sign-up-attempt:${userId}:${day}`,
      data: {},
    });
  }

  async #enqueue(mail: Mail): Promise<void> {
    if (this.hasMail) await enqueueMail(this.database.pool, mail);
  }

  #link(path: string, token: string): string {
    return `${this.publicUrl}${path}#token=${encodeURIComponent(token)}`;
  }
}
