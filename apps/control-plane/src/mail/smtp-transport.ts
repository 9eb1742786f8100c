/**
 * Hands a mail to the SMTP server, and reads what its refusals mean.
 *
 * Guarantees: one recipient for each mail, given as address and name, never as a composed header: a line break in either adds no
 * recipient. No file and no address is read for a mail. Each attempt ends within {@link SENT_WITHIN_MS}.
 */
import { createTransport } from 'nodemailer';
import pTimeout from 'p-timeout';
import type { MailContent } from './templates/mail-parts.js';

/** An address, and the name shown beside it. */
export interface MailAddress {
  readonly address: string;
  readonly name: string;
}

/** A mail for one recipient. */
export interface OutgoingMail extends MailContent {
  readonly to: MailAddress;
  /** The same at every attempt. */
  readonly messageId: string;
}

export interface MailTransport {
  /** Resolves once the server has accepted the mail. @throws what {@link refusalOf} reads */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

export interface SmtpSettings {
  /** `smtp://user:password@host:port`, or `smtps://`. */
  readonly url: string;
  readonly from: MailAddress;
}

/** Connections to the SMTP server. */
export const SMTP_CONNECTIONS = 5;
const CONNECTED_WITHIN_MS = 10_000;
const SILENT_FOR_MS = 30_000;
export const SENT_WITHIN_MS = 60_000;

export function openSmtp({ url, from }: SmtpSettings): MailTransport {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: SMTP_CONNECTIONS,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: CONNECTED_WITHIN_MS,
    greetingTimeout: CONNECTED_WITHIN_MS,
    socketTimeout: SILENT_FOR_MS,
  });
  return {
    send: async ({ to, subject, text, html, messageId }) => {
      const sent = transport.sendMail({
        from: { ...from },
        to: { ...to },
        subject,
        text,
        html,
        messageId,
        // Nobody wants an answer of a machine to a machine.
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await pTimeout(sent, { milliseconds: SENT_WITHIN_MS, message: 'the SMTP server did not answer in time' });
    },
    close: () => transport.close(),
  };
}

export interface Refusal {
  /** The server, or the rules for addresses, refuse this mail for good. */
  readonly isFinal: boolean;
  /** For the log and the row: code and answer, without addresses. */
  readonly reason: string;
}

const ADDRESS = /[^\s<>"'()]+@[^\s<>"'()]+/g;
const LONGEST_REASON = 300;

/**
 * What a failed attempt means. A 5xx is final when it is about this recipient or this message; one about our password or our sender
 * address is a fault of the settings, which an operator may correct within the day.
 */
export function refusalOf(error: unknown): Refusal {
  const code = textOf(error, 'code');
  const command = textOf(error, 'command');
  const status = Number(textOf(error, 'responseCode'));
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  // An address that cannot be written on the wire is refused by the client itself.
  const isOfClient = command === 'API';
  const isOfServer = status >= 500 && (command === 'RCPT TO' || command === 'DATA');
  const message = error instanceof Error ? error.message : String(error);
  const reason = [code, message].filter((part) => part !== '').join(': ');
  return { isFinal: isOfMail && (isOfClient || isOfServer), reason: withoutAddresses(reason).slice(0, LONGEST_REASON) };
}

function withoutAddresses(text: string): string {
  return text.replace(ADDRESS, '<address>').replace(/\s+/g, ' ');
}

function textOf(error: unknown, field: string): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, field) : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
