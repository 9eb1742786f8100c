import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Declaration } from '@dormouse/database';
import { ROOT_FOLDER } from '../app-names.js';
import { productionFiles } from './test-sources.js';

const DECLARES = /\bdefine\w*(?:Statement|Search|CursorWrite)\(/;

/** Imports what it is given, project by project, and prints what each declared that none before it had. */
const PROGRAM = `
  const [database, projects] = JSON.parse(process.argv[1]);
  const { declaredStatements } = await import(database);
  const declared = [];
  let known = new Set(declaredStatements());
  for (const { name, files } of projects) {
    for (const file of files) await import(file);
    const all = declaredStatements();
    declared.push([name, all.filter((declaration) => !known.has(declaration))]);
    known = new Set(all);
  }
  console.log(JSON.stringify(declared));`;

/**
 * The statements that the files of each project declare, in the order given; a project comes after those that it imports.
 * A module declares when it is loaded, and this process may have loaded any: it is asked of a process of its own.
 */
export async function declaredBy(projects: readonly string[]): Promise<Map<string, Declaration[]>> {
  const sources = productionFiles(ROOT_FOLDER).filter((path) => DECLARES.test(readFileSync(path, 'utf8')));
  const compiled = (path: string): string =>
    pathToFileURL(path.replace('/src/', '/dist/').replace(/\.tsx?$/, '.js')).href;
  const files = projects.map((name) => ({
    name,
    files: sources.filter((path) => path.startsWith(`${ROOT_FOLDER}${name}/`)).map(compiled),
  }));
  const given = JSON.stringify([import.meta.resolve('@dormouse/database'), files]);
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const run = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM, given], options);
  return new Map(JSON.parse(run.stdout) as [string, Declaration[]][]);
}
