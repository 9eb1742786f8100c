import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Installation } from './installation.js';
import { Ports } from './ports.js';

describe('the regions of a data folder', () => {
  let dir: string;

  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'installation-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  /** As a start does. */
  const start = (...wanted: Parameters<Installation['regionsOfStart']>) => {
    const installation = new Installation(dir);
    const regions = installation.regionsOfStart(...wanted);
    installation.rememberRegions(regions);
    return regions.map(({ code, suffix }) => `${code}${suffix}`);
  };

  it('are remembered in their order: a start that names none has all, and new ones come after them', () => {
    expect(start(['eu', 'sg'])).toEqual(['eu', 'sg-sg']);
    expect(start()).toEqual(['eu', 'sg-sg']);
    expect(start(['sg', 'use', 'eu'])).toEqual(['eu', 'sg-sg', 'use-use']);
  });

  it('are not left out by a later start, whose channels there could not be reached', () => {
    start(['sg', 'eu']);
    expect(() => start(['use', 'sg'])).toThrow(
      'This data folder has the regions sg,eu: without eu its channels there could not be reached. ' +
        'Start with --regions sg,eu,use, without --regions, or with another folder (--data).',
    );
  });

  it('are the first of all codes in a new folder and in one of before there were several', () => {
    expect(start()).toEqual(['sg']);
    const file = join(dir, 'installation.json');
    const { regions, ...older } = JSON.parse(readFileSync(file, 'utf8')) as { regions: string[] };
    writeFileSync(file, JSON.stringify(older));
    expect([regions, start(['sg', 'eu'])]).toEqual([['sg'], ['sg', 'eu-eu']]);
  });

  it('are those of a start that came to its stores: one that failed before binds nobody', () => {
    new Installation(dir).regionsOfStart(['usw']);
    expect(start(['sg'])).toEqual(['sg']);
  });

  it('have ports of their own, which are found again', async () => {
    const choose = async (): Promise<number[]> => {
      const installation = new Installation(dir);
      const ports = new Ports(installation, undefined);
      const [first, second] = installation.regionsOfStart(['sg', 'eu']);
      return [
        await ports.choose('session-worker', { region: first }),
        await ports.choose('session-worker', { region: first, index: 1 }),
        await ports.choose('session-worker', { region: second }),
      ];
    };
    const chosen = await choose();
    expect(new Set(chosen).size).toBe(3);
    expect(await choose()).toEqual(chosen);
  });
});
