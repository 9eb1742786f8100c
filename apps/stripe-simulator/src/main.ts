#!/usr/bin/env node
import { pino } from 'pino';
import { readConfig } from './config.js';
import { startStripeSimulator } from './simulator.js';

const STOP_WITHIN_MS = 1800;

const config = readConfig();
// Standard output carries the one line with the address and the key; everything else is a log.
const log = pino({ level: config.logLevel, name: 'stripe-simulator' }, pino.destination(2));
const simulator = await startStripeSimulator({
  ...{ port: config.port, host: config.host, secretKey: config.secretKey },
  ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }),
  ...(config.dataDir !== undefined && { dataDir: config.dataDir }),
  ...(config.webhook && { webhook: config.webhook }),
  log: (words, details) => log.warn(details, words),
});

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  simulator.close().then(
    () => process.exit(0),
    (error: unknown) => {
      log.error({ reason: String(error) }, 'could not stop cleanly');
      process.exit(1);
    },
  );
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
if (config.endWithInput) process.stdin.once('close', stop).resume();
// Only now: who reads the line may end the process with the next signal.
process.stdout.write(`${JSON.stringify({ url: simulator.url, secretKey: simulator.secretKey })}\n`);
