/** Started beside every launcher: when the launcher is gone, however it went, stops what it left running. */
import { ProcessRegister } from './process-register.js';

const [, , dataDir] = process.argv;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
process.stdin.resume();
process.stdin.once('close', () => {
  if (dataDir !== undefined) void ProcessRegister.stopOrphans(dataDir);
});
