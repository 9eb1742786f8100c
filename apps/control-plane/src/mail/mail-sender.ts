/**
 * Sends the mail of the outbox (`@dormouse/mail-outbox`), in every control plane; they share the work.
 *
 * Guarantees:
 * - What is stored is sent, or tried for a day: after 30 s, then twice as long each time, an hour at most. What the server refuses for
 *   good ends at once. A mail is for one recipient; a mail to an audience becomes one for each of its users.
 * - For one reason a mail is sent once: a row is claimed by one process, and its end is stored. One case is left, as SMTP has no
 *   transactions: this process, or the connection, dies between the server's 250 and our commit. Then the mail is sent again, with the
 *   same Message-ID, by which receivers recognise it. To send it never instead would lose an invitation or a warning.
 * - Nothing of a mail but its kind, ids and the server's answer without addresses is logged.
 *
 * PostgreSQL away: nothing is sent, and everything goes on when it is back. SMTP away, or not configured: mail waits, for a day. Redis
 * away: the schedule does not run (mail-jobs.ts), so mail waits.
 */
import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import {
  claimMail,
  delayMail,
  deleteMailOlderThan,
  divideMail,
  endMail,
  type ClaimedMail,
  type MailOutcome,
} from '@dormouse/mail-outbox';
import type { Recipients } from './recipients.js';
import { refusalOf, SENT_WITHIN_MS, SMTP_CONNECTIONS, type MailAddress, type MailTransport } from './smtp-transport.js';
import { renderMail } from './templates/render-mail.js';

const DAY_MS = 86_400_000;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Mail that is sent at a time: as many as there are connections, so that none waits with a claim that runs. */
const BATCH = SMTP_CONNECTIONS;
/** Longer than any attempt, so that only what a dead process had claimed is claimed again. */
const CLAIM_MS = SENT_WITHIN_MS + 60_000;
/** How long a reason cannot be used again. */
const KEPT_MS = 400 * DAY_MS;

/** What became of an attempt. */
export type AttemptOutcome = MailOutcome | 'delayed';

export interface MailSenderOptions {
  readonly database: Pick<GlobalDatabase, 'pool'>;
  readonly recipients: Recipients;
  /** Absent: there is no SMTP server, and mail waits. */
  readonly transport?: MailTransport | undefined;
  readonly from: MailAddress;
  readonly log: Logger;
  readonly onOutcome?: (outcome: AttemptOutcome) => void;
}

/** The pause before attempt `attempts + 1`. */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
}

export class MailSender {
  #isStopping = false;

  constructor(private readonly options: MailSenderOptions) {}

  /** Sends what is due until nothing is. @throws the driver's errors: what is claimed then is due again later */
  async sendDue(): Promise<void> {
    while (!this.#isStopping) {
      const mails = await claimMail(this.options.database.pool, BATCH, CLAIM_MS);
      if (mails.length === 0) return;
      const attempts = await Promise.allSettled(mails.map((mail) => this.#attempt(mail)));
      const failed = attempts.find((attempt) => attempt.status === 'rejected');
      if (failed) throw failed.reason;
    }
  }

  /** Deletes what ended so long ago that its reason may be used again. */
  async deleteOld(): Promise<void> {
    await deleteMailOlderThan(this.options.database.pool, KEPT_MS);
  }

  /** What is under way ends; nothing more is claimed. */
  stop(): void {
    this.#isStopping = true;
  }

  async #attempt(mail: ClaimedMail): Promise<void> {
    const { recipients } = this.options;
    if (mail.ageMs > DAY_MS) return this.#end(mail, 'expired', 'older than a day');
    const { to } = mail;
    if ('address' in to) return this.#send(mail, { address: to.address, name: to.name ?? '' });
    if ('userId' in to) {
      const address = await recipients.addressOf(to.userId);
      return address ? this.#send(mail, address) : this.#end(mail, 'nobody');
    }
    const users = 'accountId' in to ? recipients.usersOf(to.accountId, to.audience) : recipients.operators();
    return this.#divide(mail, await users);
  }

  async #divide(mail: ClaimedMail, users: readonly string[]): Promise<void> {
    if (users.length === 0) return this.#end(mail, 'nobody');
    await divideMail(this.options.database.pool, mail, users);
    this.options.onOutcome?.('divided');
  }

  async #send(mail: ClaimedMail, to: MailAddress): Promise<void> {
    const { transport, from } = this.options;
    try {
      if (!transport) throw new Error('SMTP_URL is not set');
      const messageId = `<${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
      await transport.send({ ...renderMail(mail, from.name), to, messageId });
    } catch (error) {
      return this.#failed(mail, error);
    }
    await this.#end(mail, 'sent');
  }

  async #failed(mail: ClaimedMail, error: unknown): Promise<void> {
    const { database, log, onOutcome } = this.options;
    const { isFinal, reason } = refusalOf(error);
    if (isFinal) return this.#end(mail, 'refused', reason);
    const pauseMs = pauseAfter(mail.attempts);
    if (mail.ageMs + pauseMs > DAY_MS) return this.#end(mail, 'expired', reason);
    await delayMail(database.pool, mail, pauseMs, reason);
    log.warn({ ...factsOf(mail), pauseMs, error: reason }, 'mail was not sent; it is tried again');
    onOutcome?.('delayed');
  }

  async #end(mail: ClaimedMail, outcome: Exclude<MailOutcome, 'divided'>, error?: string): Promise<void> {
    const { database, log, onOutcome } = this.options;
    await endMail(database.pool, mail, outcome, error);
    if (outcome === 'sent') log.info(factsOf(mail), 'mail sent');
    else log.warn({ ...factsOf(mail), outcome, error }, 'mail ended without being sent');
    onOutcome?.(outcome);
  }
}

function factsOf({ id, kind, reason, attempts }: ClaimedMail): object {
  return { mailId: id, kind, reason, attempts };
}
