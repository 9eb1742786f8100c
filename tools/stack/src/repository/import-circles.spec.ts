import { join } from 'node:path';
import { ROOT_FOLDER } from '../app-names.js';
import { circlesOf, importGraph } from './test-import-circles.js';

const { PROJECTS } = (await import(join(ROOT_FOLDER, 'import-rules.mjs'))) as { PROJECTS: Record<string, unknown> };

describe('files of a project', () => {
  it.each(Object.keys(PROJECTS))('of %s import each other in no circle, types included', (project) => {
    const graph = importGraph(join(ROOT_FOLDER, project));
    expect(graph.size).toBeGreaterThan(0);
    expect(circlesOf(graph)).toEqual([]);
  });

  it('are found when they do, through others and among those that do not', () => {
    const graph = new Map([
      ['a', ['b', 'x']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', ['x']],
      ['x', []],
      ['y', ['x', 'z']],
      ['z', ['y']],
      ['own', ['own']],
    ]);
    expect(circlesOf(graph)).toEqual([['a', 'b', 'c'], ['y', 'z'], ['own']]);
  });

  it('are read with every kind of import', () => {
    const graph = importGraph(join(ROOT_FOLDER, 'tools/stack'));
    expect(graph.get('repository/import-circles.spec.ts')).toEqual([
      'app-names.ts',
      'repository/test-import-circles.ts',
    ]);
    expect(graph.get('repository/test-import-circles.ts')).toEqual([]);
  });
});
