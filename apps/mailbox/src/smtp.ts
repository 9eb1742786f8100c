/**
 * The SMTP side: accepts mail from anyone to anyone and delivers it nowhere but here. Names and passwords are taken as they come; there
 * is no TLS, as it listens on this machine alone.
 */
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Fault, Faults } from './faults.js';
import type { Mails } from './mails.js';
import { readMail } from './received-mail.js';

const MAX_MAIL_BYTES = 10 * 1024 * 1024;
/** Connections that are open at the end are cut after this time. */
const CLOSES_WITHIN_MS = 200;

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  readonly mails: Mails;
  readonly faults: Faults;
  readonly log: Logger;
  readonly now: () => Date;
}

export interface RunningSmtp {
  readonly port: number;
  stop(): Promise<void>;
}

/** A failure with the code that the server answers. */
function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** Starts to listen. @throws when it cannot */
export async function startSmtp({ host, port, mails, faults, log, now }: SmtpOptions): Promise<RunningSmtp> {
  /** By the client's port. */
  const sockets = new Map<number, Socket>();
  const refused = (at: Extract<Fault, { kind: 'refuse' }>['at'], to?: string): Error | undefined => {
    const fault = faults.take('refuse', (one) => one.at === at && (one.to ?? to)?.toLowerCase() === to?.toLowerCase());
    return fault && refusal(fault.code, `${at} refused on purpose`);
  };
  const receive = async (
    stream: SMTPServerDataStream,
    { envelope, remotePort }: SMTPServerSession,
  ): Promise<boolean> => {
    const source = await buffer(stream);
    if (stream.sizeExceeded) throw refusal(552, `a mail may have ${MAX_MAIL_BYTES} bytes at most`);
    const failure = refused('message');
    if (failure) throw failure;
    const slow = faults.take('slow');
    if (slow) await delay(slow.ms, undefined, { ref: false });
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const to = envelope.rcptTo.map(({ address }) => address);
    mails.add(await readMail(source, { receivedAt: now().toISOString(), envelope: { from, to } }));
    if (!faults.take('cut')) return true;
    sockets.get(remotePort)?.destroy();
    return false;
  };
  const server = new SMTPServer({
    banner: 'mailbox',
    size: MAX_MAIL_BYTES,
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: CLOSES_WITHIN_MS,
    logger: false,
    onAuth: ({ username }, _session, done) => {
      const failure = refused('auth');
      if (failure) done(failure);
      else done(null, { user: username ?? '' });
    },
    onMailFrom: (_address, _session, done) => done(refused('sender') ?? null),
    onRcptTo: ({ address }, _session, done) => done(refused('recipient', address) ?? null),
    onData: (stream, session, done) => {
      receive(stream, session).then((isAnswered) => isAnswered && done(null), done);
    },
  });
  // A client that goes away in the middle is no fault of ours.
  server.on('error', (error) => log.debug({ reason: error.message }, 'a connection failed'));
  faults.onAdded = ({ kind }) => {
    if (kind === 'away') for (const socket of sockets.values()) socket.destroy();
  };
  const listening = server.listen(port, host);
  listening.on('connection', (socket: Socket) => {
    if (faults.take('away')) socket.destroy();
    const { remotePort } = socket;
    if (remotePort === undefined) return;
    sockets.set(remotePort, socket);
    socket.once('close', () => sockets.delete(remotePort));
  });
  await new Promise<void>((resolve, reject) => {
    listening.once('listening', resolve);
    listening.once('error', reject);
  });
  return {
    port: (listening.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
