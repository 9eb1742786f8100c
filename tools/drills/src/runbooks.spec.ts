import { readdirSync, readFileSync } from 'node:fs';
import { DRILLS } from './drills.js';

const RUNBOOKS = new URL('../../../infra/runbooks/', import.meta.url);

const pages = readdirSync(RUNBOOKS).map((file) => {
  const text = readFileSync(new URL(file, RUNBOOKS), 'utf8');
  const drills = [...text.matchAll(/npm run drill -- ([\w-]+)/g)].map(([, name = '']) => name);
  return { file, drills };
});

describe('runbooks and drills', () => {
  it('a drill that a runbook names exists', () => {
    const unknown = pages.flatMap(({ file, drills }) =>
      drills.filter((name) => !(name in DRILLS)).map((name) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it.each(Object.entries(DRILLS))('%s is named by the runbook that it follows, and by the README', (name, drill) => {
    expect(pages.find(({ file }) => file === drill.runbook)?.drills).toContain(name);
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(`\`${name}\``);
  });
});
