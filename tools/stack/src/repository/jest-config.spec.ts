import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT_FOLDER } from '../app-names.js';

/** What specs share: TypeScript files below `src` that are no specs. */
function helpers(): string[] {
  const below = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  return ['apps', 'libs', 'tools']
    .flatMap((kind) => readdirSync(join(ROOT_FOLDER, kind)).map((project) => join(ROOT_FOLDER, kind, project, 'src')))
    .flatMap(below)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));
}

interface Test {
  readonly path: string;
  readonly context: { config: { displayName: { name: string } } };
}

type Sequencer = new (options: object) => { sort(tests: Test[]): Test[] };

interface Limits {
  testTimeout?: number;
  projects: { displayName: string; testTimeout?: number }[];
}

describe('the configuration of Jest', () => {
  it('has the time limit of a test where Jest reads it: at the top, as a project’s is ignored', async () => {
    const file = pathToFileURL(`${ROOT_FOLDER}jest.config.mjs`).href;
    const config = ((await import(file)) as { default: Limits }).default;
    expect(config.testTimeout).toBe(60_000);
    expect(config.projects.map(({ testTimeout }) => testTimeout)).toEqual([undefined, undefined, undefined]);
  });

  it('finds no hook and no time limit in what specs share: it is loaded once, and so would be set for one spec alone', () => {
    const registering = /\b(?:(?:before|after)(?:All|Each)|jest\.setTimeout)\(/;
    expect(helpers().filter((path) => registering.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  it('finds no function of Jest that is kept in what specs share: each file has its own', () => {
    const kept = /^(?:export )?const \w+ =.*[=?:] (?:describe|it|test|expect)(?:\.\w+)?(?: :|;)/m;
    expect(helpers().filter((path) => kept.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  it('has the specs of the simulated network come before those of the worker, which patch the network library', async () => {
    const file = pathToFileURL(`${ROOT_FOLDER}tools/stack/scripts/file-order.mjs`).href;
    const { default: FileOrder } = (await import(file)) as { default: Sequencer };
    const of = (path: string, name: string): Test => ({
      path: join(ROOT_FOLDER, 'apps', path),
      context: {
        config: { id: name, cacheDirectory: '/nowhere', displayName: { name } },
        hasteFS: { getSize: () => 1 },
      } as Test['context'],
    });
    const worker = of('session-worker/src/config.spec.ts', 'unit');
    const journey = of('e2e/src/sleep.e2e.spec.ts', 'e2e');
    const network = of('network-simulator/src/scenarios/faults.int.spec.ts', 'integration');
    const sorted = new FileOrder({ contexts: [], globalConfig: {} }).sort([worker, journey, network]);
    expect(sorted.indexOf(network)).toBe(0);
    expect(sorted).toHaveLength(3);
  });
});
