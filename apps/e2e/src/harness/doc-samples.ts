/** The samples of the documentation: fenced blocks of its guides, run as a reader would run them. */
import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const CONTENT = fileURLToPath(new URL('../../../docs/content/', import.meta.url));
const FENCE = /^```(\w+)([^\n]*)\n(.*?)^```$/gms;

/** What each language is run by: a file with this ending, and the command. */
const INTERPRETERS: Readonly<Record<string, { file: string; command: string }>> = {
  sh: { file: 'sample.sh', command: '. ./sample.sh' },
  js: { file: 'sample.mjs', command: 'node sample.mjs' },
  python: { file: 'sample.py', command: 'python3 -u sample.py' },
  php: { file: 'sample.php', command: 'php -S "127.0.0.1:$PORT" sample.php' },
};
/** Programs that samples need. */
const PROGRAMS: Readonly<Record<string, string>> = { sh: 'curl', js: 'node', python: 'python3', php: 'php' };

export interface Sample {
  language: string;
  /** `run`: it ends by itself; `serve`: it is a server; `expect`: the answer of the sample before; none: it is only shown. */
  use: 'run' | 'serve' | 'expect' | 'show';
  code: string;
  /** Line of the file in which it begins. */
  line: number;
}

/** Every guide with its samples. */
export function guidesWithSamples(): { guide: string; samples: Sample[] }[] {
  return readdirSync(CONTENT)
    .filter((name) => name.endsWith('.md'))
    .map((guide) => ({ guide, samples: samplesOf(readFileSync(join(CONTENT, guide), 'utf8')) }));
}

function samplesOf(markdown: string): Sample[] {
  return [...markdown.matchAll(FENCE)].map(({ 1: language = '', 2: words = '', 3: code = '', index }) => {
    const use = (['run', 'serve', 'expect'] as const).find((word) => words.includes(word)) ?? 'show';
    return { language, use, code, line: markdown.slice(0, index).split('\n').length };
  });
}

/** The program that a language needs and that this machine lacks. */
export function missingProgram(language: string): string | undefined {
  const program = PROGRAMS[language] ?? language;
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined ? undefined : program;
}

/** A folder in which the samples of a guide run one after the other: files and variables of one are there for the next. */
export class SampleFolder {
  constructor(
    private readonly folder: string,
    private readonly variables: Readonly<Record<string, string>>,
  ) {}

  /** @returns its standard output. @throws when it fails */
  async run({ language, code, line }: Sample): Promise<string> {
    const child = this.#start(language, code, {});
    const [output, errors, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (status !== 0) throw new Error(`line ${line} ended with ${status}: ${errors}${output}`);
    return output;
  }

  /** Starts a server that listens on a port; the caller ends it. */
  serve({ language, code }: Sample, port: number): ChildProcessByStdio<null, Readable, Readable> {
    return this.#start(language, code, { PORT: String(port) });
  }

  #start(language: string, code: string, more: Record<string, string>): ChildProcessByStdio<null, Readable, Readable> {
    const interpreter = INTERPRETERS[language];
    if (!interpreter) throw new Error(`no sample is in ${language}`);
    writeFileSync(join(this.folder, interpreter.file), code);
    const kept = 'set -ea; [ ! -f .variables ] || . ./.variables';
    const isShell = language === 'sh';
    const script = isShell
      ? `${kept}; ${interpreter.command}; export -p > .variables`
      : `${kept}; exec ${interpreter.command}`;
    const { PATH = '', HOME = '' } = process.env;
    return spawn('sh', ['-c', script], {
      cwd: this.folder,
      env: { PATH, HOME, ...this.variables, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

/** Values that a page shows as they are; of all others it shows the form. */
const EXACT = new Set(['type', 'text', 'region', 'event', 'by', 'genuine', 'sent', 'success']);

/** Where an answer has another form than the documented one; undefined when it has the same, or more. */
export function shapeFault(expected: unknown, actual: unknown, path = 'answer'): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${path} is no list`;
    return firstFault(expected.map((entry, place) => shapeFault(entry, actual[place], `${path}[${place}]`)));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return `${path} is no object`;
    return firstFault(
      Object.entries(expected).map(([key, value]) => {
        const found: unknown = Reflect.get(actual, key);
        const isStatus = key === 'code' && typeof value === 'number';
        const isExact = isStatus || (EXACT.has(key) && typeof value !== 'object');
        if (isExact && found !== value) return `${path}.${key} is ${String(found)}, not ${String(value)}`;
        return shapeFault(value, found, `${path}.${key}`);
      }),
    );
  }
  return typeof actual === typeof expected ? undefined : `${path} is ${typeof actual}, not ${typeof expected}`;
}

const firstFault = (faults: (string | undefined)[]): string | undefined => faults.find((fault) => fault !== undefined);
