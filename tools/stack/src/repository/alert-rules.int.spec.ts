import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT_FOLDER } from '../app-names.js';
import { documentedMetrics, unknownInQuery } from './test-metrics-page.js';
import { describeWithPromtool, promtool } from './test-promtool.js';

const FOLDER = `${ROOT_FOLDER}infra/prometheus`;

interface Rules {
  groups: {
    name: string;
    rules: { alert: string; expr: string; for?: string; annotations: { runbook: string } }[];
  }[];
}

interface RuleTests {
  tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
}

const { groups } = parse(readFileSync(`${FOLDER}/alerts.yaml`, 'utf8')) as Rules;
const metrics = documentedMetrics();

describe('infra/prometheus', () => {
  it.each(groups.flatMap(({ rules }) => rules))(
    '$alert uses metrics and labels of docs/metrics.md, and names a runbook',
    ({ expr, annotations }) => {
      expect(unknownInQuery(expr, metrics)).toEqual([]);
      expect(existsSync(ROOT_FOLDER + annotations.runbook)).toBe(true);
    },
  );

  it.each([
    ['a metric that is not on the page', 'rate(dormouse_thoughts_total[5m])', ['dormouse_thoughts_total']],
    ['a label that the metric does not have', 'dormouse_region_up{channel="x"}', ['dormouse_region_up{channel}']],
    ['a label to group by', 'sum by (channel) (dormouse_sessions)', ['by (channel)']],
    ['buckets of what is no histogram', 'dormouse_commands_total_bucket', ['dormouse_commands_total_bucket']],
    ['a histogram without one of its parts', 'rate(dormouse_wake_seconds[5m])', ['dormouse_wake_seconds']],
    ['nothing at all', 'time() - 5', ['no metric']],
  ])('is found out when a query names %s', (_, query, faults) => {
    expect(unknownInQuery(query, metrics)).toEqual(faults);
  });

  it('has a file of tests for each group', () => {
    expect(readdirSync(`${FOLDER}/tests`).toSorted()).toEqual(groups.map(({ name }) => `${name}.yaml`).toSorted());
  });

  it.each(groups)('tries of $name for each alert a case in which it fires and one beside it', ({ name, rules }) => {
    const { tests } = parse(readFileSync(`${FOLDER}/tests/${name}.yaml`, 'utf8')) as RuleTests;
    for (const { alert, for: waits } of rules) {
      const cases = tests.map(({ alert_rule_test: steps }) =>
        steps.filter(({ alertname }) => alertname === alert).map(({ exp_alerts: expected }) => expected.length > 0),
      );
      // What must last is looked at before that, too.
      expect(cases).toContainEqual(waits === undefined ? [true] : [false, true]);
      expect(cases).toContainEqual([false]);
    }
  });
});

describeWithPromtool('alerts (needs promtool)', () => {
  it('and the configuration of the scrape are valid', () => {
    expect(promtool(FOLDER, 'check', 'config', 'prometheus.yaml')).toMatchObject({ status: 0 });
  });

  it.each(groups)('of $name fire in their case and not beside it', ({ name }) => {
    expect(promtool(FOLDER, 'test', 'rules', `tests/${name}.yaml`)).toEqual({
      status: 0,
      output: expect.stringContaining('SUCCESS') as string,
    });
  });
});
