// Generates both Prisma clients. `prisma generate` never runs the schema engine, but its CLI wants to download one
// first; pointing it at any existing file keeps the step offline.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(dirname(createRequire(import.meta.url).resolve('prisma/package.json')), 'build/index.js');
const env = {
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  CHECKPOINT_DISABLE: '1',
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  ...process.env,
};

for (const scope of ['global', 'regional']) {
  const config = join(here, '..', `prisma.${scope}.config.ts`);
  const run = spawnSync(process.execPath, [cli, 'generate', '--no-hints', '--config', config], {
    env,
    stdio: 'inherit',
  });
  if (run.status !== 0) process.exit(run.status ?? 1);
}
