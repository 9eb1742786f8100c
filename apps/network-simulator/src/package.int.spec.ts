import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

jest.setTimeout(120_000);

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..');
const WORKSPACE = join(PROJECT, '..', '..');
const NAME = '@dormouse/network-simulator';

interface Packed {
  filename: string;
  files: { path: string }[];
}

/**
 * The tarball as it would be published, unpacked in an empty folder. Of other packages only those are there that it names as
 * its dependencies: what it forgot to name is not found.
 */
describe('the package', () => {
  let folder: string;
  let packed: Packed;
  let started: ChildProcess | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulator-package-'));
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: PROJECT,
    });
    const [only] = JSON.parse(stdout) as Packed[];
    if (!only) throw new Error(`npm pack made nothing: ${stdout}`);
    packed = only;
    const installed = join(folder, 'node_modules', NAME);
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1']);
    const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const dependency of [...Object.keys(dependencies), '@types/node']) {
      const place = join(folder, 'node_modules', dependency);
      await mkdir(dirname(place), { recursive: true });
      await symlink(join(WORKSPACE, 'node_modules', dependency), place);
    }
  });
  afterAll(async () => {
    started?.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('has the program, the page, its types and its licence, and neither specs nor sources', async () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        ...['LICENSE', 'README.md', 'package.json', 'dist/main.js', 'dist/index.js', 'dist/index.d.ts'],
        ...['public/index.html', 'public/page.css', 'dist/page/client/main.js'],
      ]),
    );
    expect(paths.filter((path) => /spec|scenarios|test-browser|^src|\.map$|tsbuildinfo/.test(path))).toEqual([]);
    expect(await readFile(join(PROJECT, 'LICENSE'), 'utf8')).toBe(await readFile(join(WORKSPACE, 'LICENSE'), 'utf8'));
  });

  it('starts as one command, with its page and its reference', async () => {
    const installed = join(folder, 'node_modules', NAME);
    const { bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    const program = join(installed, bin['network-simulator'] ?? '');
    expect(await readFile(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    started = spawn(process.execPath, [program, '--port', '0'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    });
    if (!started.stdout) throw new Error('The process has no standard output.');
    const [line] = (await once(createInterface({ input: started.stdout }), 'line')) as [string];
    const { control } = (JSON.parse(line) as { listening: { control: string } }).listening;
    expect((await fetch(`${control}/phones`, { method: 'POST' })).status).toBe(201);
    for (const path of ['/', '/page/main.js', '/page/page.css', '/docs', '/openapi.json']) {
      expect([path, (await fetch(control + path)).status]).toEqual([path, 200]);
    }
    const exit = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });

  it('shows its usage', async () => {
    const program = join(folder, 'node_modules', NAME, 'dist', 'main.js');
    const { stdout } = await run(process.execPath, [program, '--help']);
    expect(stdout).toMatch(/^Usage: network-simulator/);
    expect(stdout).toContain('GNU General Public License');
  });

  it('starts within another program, several times, and has types for it', async () => {
    await writeFile(
      join(folder, 'use.mts'),
      `import { startSimulator, type Simulator } from '${NAME}';
const networks: Simulator[] = [await startSimulator(), await startSimulator({ publicHost: 'localhost' })];
const [first] = networks;
if (!first) throw new Error('none');
const alice = first.phones.of(first.network.accounts.add('6591110001', 'Alice'));
const bob = first.phones.of(first.network.accounts.add('6591110002', 'Bob'));
await alice.sendDraft('6591110002', { text: 'hello' });
const got = await bob.wait({ text: 'hello' }, 5000);
console.log(got?.from, networks.map(({ network }) => network.accounts.size));
for (const network of networks) await network.stop();
`,
    );
    const compiler = join(WORKSPACE, 'node_modules', 'typescript-7', 'bin', 'tsc');
    const strict = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--skipLibCheck', '--types', 'node'];
    await run(process.execPath, [compiler, ...strict, '--outDir', folder, 'use.mts'], { cwd: folder });
    const { stdout } = await run(process.execPath, [join(folder, 'use.mjs')], { cwd: folder });
    expect(stdout).toBe('6591110001@s.whatsapp.net [ 2, 0 ]\n');
  });
});
