// Builds the files that browsers load into dist/pages. The contracts must be compiled before.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

await build({ root: dirname(dirname(fileURLToPath(import.meta.url))) });
