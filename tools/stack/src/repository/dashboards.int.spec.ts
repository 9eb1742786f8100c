import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT_FOLDER } from '../app-names.js';
import { documentedMetrics, unknownInQuery } from './test-metrics-page.js';
import { describeWithPromtool, promtool } from './test-promtool.js';

const FOLDER = `${ROOT_FOLDER}infra/grafana/`;

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { type: string; uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

interface Variable {
  name: string;
  type: string;
  definition?: string;
}

interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: Variable[] };
  panels: Panel[];
}

const dashboards = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({ file, board: JSON.parse(readFileSync(FOLDER + file, 'utf8')) as Dashboard }));
const queries = dashboards.flatMap(({ file, board }) =>
  board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ file, title, expr }))),
);
const metrics = documentedMetrics();

/** A query as Prometheus gets it, once Grafana has put in its variables. */
function filledIn(query: string): string {
  return query.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.+');
}

describe('infra/grafana', () => {
  it('has a dashboard for regions, workers, delivery and money', () => {
    expect(dashboards.map(({ file }) => file).toSorted()).toEqual([
      'delivery.json',
      'money.json',
      'region.json',
      'worker.json',
    ]);
    expect(new Set(dashboards.map(({ board }) => board.uid)).size).toBe(dashboards.length);
  });

  it.each(queries)('$file, $title: metrics and labels are those of docs/metrics.md: $expr', ({ expr }) => {
    expect(unknownInQuery(filledIn(expr), metrics)).toEqual([]);
  });

  it.each(dashboards)(
    '$file can be provisioned: panels do not overlap, and every variable is one of its own',
    ({ board }) => {
      const { panels, templating } = board;
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      const names = templating.list.map(({ name }) => name);
      const used = [...JSON.stringify(panels).matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name);
      expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
      for (const panel of panels.filter(({ type }) => type !== 'row')) {
        expect(panel.datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
        expect(panel.targets?.length).toBeGreaterThan(0);
      }
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
      );
      expect(new Set(cells).size).toBe(cells.length);
      expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
    },
  );

  it('offers as variables the values of labels that exist', () => {
    const variables = dashboards.flatMap(({ board }) => board.templating.list).filter(({ type }) => type === 'query');
    expect(new Set(variables.map(({ name }) => name))).toEqual(new Set(['region', 'worker']));
    for (const { definition = '' } of variables) {
      const [, query = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      expect(unknownInQuery(`sum by (${label}) (${filledIn(query)})`, metrics)).toEqual([]);
    }
  });
});

describeWithPromtool('the queries of dashboards (need promtool)', () => {
  it('are understood by Prometheus', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dormouse-dashboards-'));
    try {
      const rules = queries.map(({ expr }, index) => ({ record: `query:${index}`, expr: filledIn(expr) }));
      writeFileSync(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'dashboards', rules }] }));
      expect(promtool(folder, 'check', 'rules', 'rules.yaml')).toMatchObject({ status: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
