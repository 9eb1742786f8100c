import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

/** A span as a server sent it. */
export interface RecordedSpan {
  traceId: string;
  spanId: string;
  /** Absent for the first of a trace. */
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  events: unknown[];
  links: unknown[];
  status: { code: number; message?: string };
  /** The app. */
  service: string;
}

interface Export {
  resourceSpans: {
    resource: { attributes: RecordedSpan['attributes'] };
    scopeSpans: { spans: Omit<RecordedSpan, 'service'>[] }[];
  }[];
}

/** A receiver of traces, OTLP over HTTP in JSON, that remembers all spans. */
export class TraceCollector {
  readonly spans: RecordedSpan[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces') collector.add(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Export);
        response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The switches that make a server send its traces here. */
  get switches(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
  }

  /** The spans of a trace, by their start, once `isWhole` is satisfied with where they are (see {@link placesOf}). */
  trace(traceId: string, isWhole: (places: string[]) => boolean): Promise<RecordedSpan[]> {
    return eventually(
      () => {
        const spans = this.spans.filter((span) => span.traceId === traceId);
        spans.sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
        return Promise.resolve(isWhole(placesOf(spans)) && spans);
      },
      { what: `the trace ${traceId}`, withinMs: 20_000 },
    );
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private add({ resourceSpans }: Export): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value['stringValue'];
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({ ...span, service: String(service) });
    }
  }
}

/** Where each span is in its trace: the names from the first one to it, such as `POST /messages/text > lane`. */
export function placesOf(spans: readonly RecordedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const placeOf = (span: RecordedSpan): string => {
    const parent = byId.get(span.parentSpanId ?? '');
    const own = parent?.service === span.service ? span.name : `${span.service}: ${span.name}`;
    return parent ? `${placeOf(parent)} > ${own}` : own;
  };
  return spans.map(placeOf);
}
