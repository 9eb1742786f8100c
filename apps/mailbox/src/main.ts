import { pino } from 'pino';
import { readConfig } from './config.js';
import { startMailbox } from './mailbox.js';

const STOP_WITHIN_MS = 1_800;

const { logLevel, ...listen } = readConfig();
// Standard output carries the one line with the addresses; everything else is a log.
const log = pino({ level: logLevel, name: 'mailbox' }, pino.destination(2));
const mailbox = await startMailbox({ ...listen, log });
process.stdout.write(`${JSON.stringify({ listening: { url: mailbox.url, smtpUrl: mailbox.smtpUrl } })}\n`);

let isStopping = false;
function stop(): void {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  mailbox.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      log.error({ reason: String(error) }, 'could not stop cleanly');
      process.exit(1);
    },
  );
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
