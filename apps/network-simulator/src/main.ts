#!/usr/bin/env node
import { pino } from 'pino';
import { settingsOf, USAGE } from './command-line.js';
import { readConfig } from './config.js';
import { fastCurve } from './phones/fast-curve.js';
import { fastDerivation } from './phones/fast-derivation.js';
import { quietLibsignal } from './quiet-libsignal.js';
import { startSimulator } from './simulator.js';

const STOP_WITHIN_MS = 1800;

quietLibsignal();
fastCurve();
fastDerivation();
const given = settingsOf(process.argv.slice(2));
if (given === 'help') {
  process.stdout.write(USAGE);
  process.exit(0);
}
const config = readConfig(given);
// Standard output carries the one line with the addresses; everything else is a log.
const log = pino({ level: config.logLevel, name: 'network-simulator' }, pino.destination(2));
const simulator = await startSimulator({
  port: config.port,
  host: config.host,
  publicHost: config.publicHost,
  dataDir: config.dataDir,
  qr: config.qr,
  windows: config.windows,
  waitingLoginsUrl: config.waitingLoginsUrl,
  log,
});

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  simulator.stop().then(
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
const { control, socketUrl, rootKey, certificateFile } = simulator;
process.stdout.write(`${JSON.stringify({ listening: { control, socketUrl, rootKey, certificateFile } })}\n`);
