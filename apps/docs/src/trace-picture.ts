import { escaped } from './html.js';

/** Spans of one trace, as a receiver of OTLP gets them; other fields are passed over. */
interface RecordedSpan {
  spanId: string;
  parentSpanId?: string;
  name: string;
  service: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface Bar {
  name: string;
  service: string;
  depth: number;
  /** Since the first span began. */
  startMs: number;
  lastsMs: number;
}

const ROW = 24;
const LABELS = 330;
const BARS = 420;
const TIMES = 90;
const NANOS_PER_MS = 1_000_000;

/** A trace as an SVG: a row for each span, below the one that it is a part of, in the order of their beginnings. */
export function tracePicture(json: string, title: string): string {
  const bars = barsOf(JSON.parse(json) as RecordedSpan[]);
  const wholeMs = Math.max(...bars.map(({ startMs, lastsMs }) => startMs + lastsMs), 1);
  const height = bars.length * ROW + 8;
  const rows = bars.map((bar, index) => row(bar, bars[index - 1]?.service, wholeMs, index * ROW));
  const width = LABELS + BARS + TIMES;
  return `<div class="table" tabindex="0"><svg role="img" aria-label="${escaped(title)}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-size="13" fill="currentColor">${rows.join('')}</svg></div>`;
}

function row({ name, service, depth, startMs, lastsMs }: Bar, above: string | undefined, wholeMs: number, top: number) {
  const left = LABELS + (startMs / wholeMs) * BARS;
  const width = Math.max((lastsMs / wholeMs) * BARS, 2);
  const middle = top + ROW / 2 + 5;
  const label = service === above ? name : `${service}: ${name}`;
  return (
    `<text x="${depth * 14}" y="${middle}">${escaped(label)}</text>` +
    `<rect x="${left.toFixed(1)}" y="${top + 6}" width="${width.toFixed(1)}" height="${ROW - 10}" rx="2" opacity="0.6"/>` +
    `<text x="${LABELS + BARS + 10}" y="${middle}">${lastsMs.toFixed(1)} ms</text>`
  );
}

function barsOf(spans: readonly RecordedSpan[]): Bar[] {
  const sorted = spans.toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
  const [first] = sorted;
  if (!first) return [];
  const sinceFirst = (nanos: string): number => Number(BigInt(nanos) - BigInt(first.startTimeUnixNano)) / NANOS_PER_MS;
  const ids = new Set(sorted.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): Bar[] =>
    sorted
      .filter(({ parentSpanId: of }) => (of !== undefined && ids.has(of) ? of : undefined) === parent)
      .flatMap(({ spanId, name, service, startTimeUnixNano, endTimeUnixNano }) => {
        const startMs = sinceFirst(startTimeUnixNano);
        const lastsMs = sinceFirst(endTimeUnixNano) - startMs;
        return [{ name, service, depth, startMs, lastsMs }, ...below(spanId, depth + 1)];
      });
  return below(undefined, 0);
}
