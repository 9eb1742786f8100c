import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('../dist/pages/', import.meta.url));
const MOST_BYTES = 250_000;

/** Scripts that a chunk cannot run without, itself included: what its file imports, at any depth. */
function neededBy(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const source = readFileSync(`${PAGES}assets/${name}`, 'utf8');
  for (const [, imported = ''] of source.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) neededBy(imported, seen);
  return seen;
}

describe('the first page', () => {
  it('loads at most 250 kB of script, compressed, with the sign-in and its language', () => {
    if (!existsSync(`${PAGES}index.html`)) throw new Error('the pages are not built: npm run build -w apps/dashboard');
    const index = readFileSync(`${PAGES}index.html`, 'utf8');
    const scripts = new Set<string>();
    for (const [, name = ''] of index.matchAll(/\/assets\/([\w-]+\.js)"/g)) neededBy(name, scripts);
    const entry = [...scripts].map((name) => readFileSync(`${PAGES}assets/${name}`, 'utf8')).join('\n');
    for (const [, name = ''] of entry.matchAll(/"(?:\.\/|assets\/)((?:sign-in-page|catalogue)-[\w-]+\.js)"/g)) {
      neededBy(name, scripts);
    }
    expect([...scripts].some((name) => name.startsWith('sign-in-page-'))).toBe(true);
    const bytes = [...scripts].reduce((sum, name) => sum + readFileSync(`${PAGES}assets/${name}.br`).length, 0);
    process.stdout.write(`first page: ${Math.round(bytes / 1_000)} kB of script in ${scripts.size} files\n`);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });
});
