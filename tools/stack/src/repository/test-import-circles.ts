import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

/** Files (or anything that has a name) and what each imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Who imports whom among the sources of one project, by path within it; imports of types count like any other. */
export function importGraph(projectFolder: string): ImportGraph {
  const source = join(projectFolder, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('generated'))
    .map((name) => join(source, name));
  return new Map(files.map((file) => [relative(source, file), importsOf(file).map((path) => relative(source, path))]));
}

function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => resolve(dirname(file), name).replace(/\.js$/, '.ts'));
}

/**
 * The circles of a graph: each a set of files that import each other, directly or through others of the set (Tarjan's
 * strongly connected components with more than one member, or an import of itself).
 */
export function circlesOf(graph: ImportGraph): string[][] {
  const index = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    let low = own;
    open.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, index.get(next) ?? low);
    }
    if (low === own) {
      const members = open.splice(open.indexOf(file));
      if (members.length > 1 || graph.get(file)?.includes(file)) circles.push(members.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles;
}
