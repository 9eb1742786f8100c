import { readdirSync, readFileSync } from 'node:fs';
import { OPERATIONS, type Operation } from '@dormouse/management-contract';

const FOLDER = new URL('../../../../infra/runbooks/', import.meta.url);
const pages = readdirSync(FOLDER).map((file) => ({ file, text: readFileSync(new URL(file, FOLDER), 'utf8') }));

/** Whether a call such as `/sg/shards/<n>` matches a path such as `/fleet/{region}/shards/{shard}`. */
function goesTo(call: string, path: string): boolean {
  const pattern = path.replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(`/fleet${call.split('?')[0] ?? ''}`);
}

describe('infra/runbooks', () => {
  const calls = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/`api ([A-Z]+) (\/[^\s`]*)/g)].map(([, method = '', call = '']) => ({ file, method, call })),
  );

  it.each(calls)('$file: $method $call is an operation', ({ method, call }) => {
    const found = Object.values<Operation>(OPERATIONS).some(
      (operation) => operation.method.toUpperCase() === method && goesTo(call, operation.path),
    );
    expect(found).toBe(true);
  });

  it('link only to pages that exist', () => {
    const names = new Set(pages.map(({ file }) => file));
    for (const { text } of pages) {
      for (const [, page = ''] of text.matchAll(/\]\(([\w-]+\.md)\)/g)) expect([...names]).toContain(page);
    }
    expect(calls.length).toBeGreaterThan(10);
  });
});
