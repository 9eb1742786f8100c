import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files that are not part of what runs in production: specs and their helpers, generated clients, the journeys. */
const OTHERS = /\.spec\.tsx?$|\.d\.ts$|(^|\/)test-[^/]+\.tsx?$|\/generated\//;

/** Absolute paths of the TypeScript files of apps and libraries that run in production, in order. */
export function productionFiles(root: string): string[] {
  return ['libs', 'apps'].flatMap((kind) =>
    readdirSync(join(root, kind))
      .filter((project) => project !== 'e2e')
      .flatMap((project) => filesBelow(join(root, kind, project, 'src')))
      .sort(),
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => /\.tsx?$/.test(path) && !OTHERS.test(path));
}
