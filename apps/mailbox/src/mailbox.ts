import type { AddressInfo } from 'node:net';
import { pino, type Logger } from 'pino';
import { Faults, type Fault } from './faults.js';
import { Mails, type Wanted } from './mails.js';
import type { ReceivedMail } from './received-mail.js';
import { httpServer } from './routes.js';
import { startSmtp } from './smtp.js';

/** Everything has a default: `startMailbox()` listens on free ports of this machine. */
export interface MailboxOptions {
  /** Of the page and the HTTP API. */
  readonly port?: number;
  readonly smtpPort?: number;
  /** Address to listen on, for both. */
  readonly host?: string;
  readonly now?: () => Date;
  readonly log?: Logger;
}

export interface Mailbox {
  /** Of the page and the HTTP API. */
  readonly url: string;
  /** What a sender takes as its server. */
  readonly smtpUrl: string;
  /** Oldest first. */
  list(wanted?: Wanted): ReceivedMail[];
  /**
   * The first mail that is wanted, waiting for it if it has not come yet.
   * @throws when it does not come within `timeoutMs` (10 s)
   */
  next(wanted?: Wanted, timeoutMs?: number): Promise<ReceivedMail>;
  /** Deletes mail. */
  remove(wanted?: Wanted): void;
  /** From now on, as many times as the fault has. */
  fail(fault: Fault): void;
  /** Ends every fault. */
  work(): void;
  stop(): Promise<void>;
}

/** Starts a mailbox. @throws when a port is in use */
export async function startMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const { host = '127.0.0.1', log = pino({ level: 'silent' }), now = () => new Date() } = options;
  const mails = new Mails();
  const faults = new Faults();
  const smtp = await startSmtp({ host, port: options.smtpPort ?? 0, mails, faults, log, now });
  const smtpUrl = `smtp://${reachable(host)}:${smtp.port}`;
  const http = httpServer({ mails, faults, log, smtpUrl });
  try {
    await http.listen({ port: options.port ?? 0, host });
  } catch (error) {
    await smtp.stop();
    throw error;
  }
  const { port } = http.server.address() as AddressInfo;
  return {
    url: `http://${reachable(host)}:${port}`,
    smtpUrl,
    list: (wanted) => mails.list(wanted),
    next: async (wanted = {}, timeoutMs = 10_000) => {
      const mail = await mails.next(wanted, timeoutMs);
      if (mail) return mail;
      const to = wanted.to === undefined ? '' : ` to ${wanted.to}`;
      throw new Error(`no mail${to} came within ${timeoutMs} ms`);
    },
    remove: (wanted) => void mails.remove(wanted),
    fail: (fault) => faults.add(fault),
    work: () => faults.clear(),
    stop: async () => {
      mails.close();
      await Promise.all([smtp.stop(), http.close()]);
    },
  };
}

/** A host that clients of this machine reach. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
