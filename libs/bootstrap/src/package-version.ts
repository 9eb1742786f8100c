import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest = z.object({ version: z.string() });

/**
 * The version of a package.
 * @param file address of its package.json
 */
export function packageVersion(file: URL): string {
  return manifest.parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
