import { readFileSync } from 'node:fs';
import { ROOT_FOLDER } from '../app-names.js';

/** A metric as docs/metrics.md has it. */
interface DocumentedMetric {
  kind: string;
  labels: Set<string>;
}

/** Added to every sample by an app itself or by the scrape (infra/prometheus/prometheus.yaml). */
const OF_EVERY_SAMPLE = ['app', 'instance', 'job'];
/** Added by the scrape to the samples of apps that run once for each region. */
const REGIONAL_SECTIONS = new Set(['Every app', 'edge-api', 'session-worker', 'webhook-dispatcher']);
/** What docs/metrics.md leaves to the page of prom-client, and Prometheus' own. */
const OTHERS = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_start_time_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'up',
];
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** The metrics of docs/metrics.md by name, with every label that their samples have. */
export function documentedMetrics(): Map<string, DocumentedMetric> {
  const metrics = new Map<string, DocumentedMetric>(
    OTHERS.map((name) => [name, { kind: 'gauge', labels: new Set([...OF_EVERY_SAMPLE, 'region']) }]),
  );
  let section = '';
  for (const line of readFileSync(`${ROOT_FOLDER}docs/metrics.md`, 'utf8').split('\n')) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const [, name, kind = '', labels = ''] = /^\| `(\w+)` *\| (\w+) *\|([^|]*)\|/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name)?.labels ?? new Set(OF_EVERY_SAMPLE);
    for (const [, label = ''] of labels.matchAll(/`(\w+)`/g)) known.add(label);
    if (REGIONAL_SECTIONS.has(section)) known.add('region');
    if (kind === 'histogram') known.add('le');
    metrics.set(name, { kind, labels: known });
  }
  return metrics;
}

/**
 * What a PromQL query names that does not exist: metrics that are not on the page, buckets of what is no histogram, and labels
 * that its metrics do not have. Whether it parses is promtool's to find out.
 */
export function unknownInQuery(query: string, metrics: ReadonlyMap<string, DocumentedMetric>): string[] {
  const faults: string[] = [];
  const used: DocumentedMetric[] = [];
  const grouped = new Set<string>();
  const find = (name: string): DocumentedMetric | undefined => {
    const whole = metrics.get(name);
    if (whole) return whole.kind === 'histogram' ? undefined : whole;
    const part = metrics.get(name.replace(/_(bucket|sum|count)$/, ''));
    return part?.kind === 'histogram' ? part : undefined;
  };
  const rest = query
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, list: string) => {
      for (const [label] of list.matchAll(/\w+/g)) grouped.add(label);
      return ' ';
    });
  for (const [, name = '', matchers = '', call] of rest.matchAll(
    /(?<![\w.])([a-zA-Z_:]\w*)\s*(?:\{([^}]*)\}|(\())?/g,
  )) {
    if (call !== undefined || WORDS.has(name.toLowerCase())) continue;
    const metric = find(name);
    if (!metric) {
      faults.push(name);
      continue;
    }
    used.push(metric);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (!metric.labels.has(label)) faults.push(`${name}{${label}}`);
  }
  if (used.length === 0 && faults.length === 0) faults.push('no metric');
  for (const label of grouped) if (!used.some(({ labels }) => labels.has(label))) faults.push(`by (${label})`);
  return faults;
}
