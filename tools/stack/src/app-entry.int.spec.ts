import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { appEntry } from './app-names.js';

describe('the entry file of an app', () => {
  let root: string;
  beforeEach(async () => {
    root = `${await mkdtemp(join(tmpdir(), 'dormouse-entry-'))}/`;
  });
  afterEach(() => rm(root, { recursive: true }));

  const made = async (file: string, atS: number): Promise<void> => {
    await mkdir(dirname(root + file), { recursive: true });
    await writeFile(root + file, '');
    await utimes(root + file, atS, atS);
  };

  it('is its bundle while nothing that it is made of was compiled since', async () => {
    await made('libs/redis/dist/.tsbuildinfo', 100);
    await made('apps/edge-api/dist/.tsbuildinfo', 200);
    await made('apps/edge-api/dist/bundle/main.js', 300);
    await made('apps/billing/dist/.tsbuildinfo', 400);
    expect(appEntry('edge-api', root)).toBe(`${root}apps/edge-api/dist/bundle/main.js`);
  });

  it.each(['libs/redis', 'apps/edge-api'])('is what was compiled where %s was compiled since', async (project) => {
    await made('libs/redis/dist/.tsbuildinfo', 100);
    await made('apps/edge-api/dist/bundle/main.js', 300);
    await made(`${project}/dist/.tsbuildinfo`, 400);
    expect(appEntry('edge-api', root)).toBe(`${root}apps/edge-api/dist/main.js`);
  });

  it('is what was compiled where there is no bundle', async () => {
    await made('libs/redis/dist/.tsbuildinfo', 100);
    expect(appEntry('mailbox', root)).toBe(`${root}apps/mailbox/dist/main.js`);
  });
});
