import type { MailAudience } from '@dormouse/mail-outbox';
import type { MailAddress } from './smtp-transport.js';

/** Whom mail reaches, as it is at the time of sending. */
export interface Recipients {
  /** The address of a user; undefined: there is no such user (any more). @throws the driver's errors */
  addressOf(userId: string): Promise<MailAddress | undefined>;
  /** The users of an audience of an account; empty: nobody, or no such account. @throws the driver's errors */
  usersOf(accountId: string, audience: MailAudience): Promise<string[]>;
  /** The users who operate the installation. @throws the driver's errors */
  operators(): Promise<string[]>;
}
