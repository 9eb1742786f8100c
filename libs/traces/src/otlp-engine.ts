/**
 * Spans by OpenTelemetry, sent by OTLP over HTTP. Loaded only where traces are on. Nothing is registered with OpenTelemetry's API:
 * libraries that make spans by themselves make none, since what they put into them is not ours to vouch for.
 */
import {
  createContextKey,
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import type { OpenSpan, SpanFacts, SpanTerms, TracedServer, TraceEngine, TraceSettings } from './span.js';

/** For the last export at the end of a process. */
const CLOSE_WITHIN_MS = 3_000;
const EXPORT_WITHIN_MS = 10_000;
/** What is longer was not made by us. */
const LONGEST_VALUE = 256;

const KINDS = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  internal: Kind.INTERNAL,
} as const;

const REQUEST_ID = createContextKey('request id');

export function openEngine(settings: TraceSettings, { name, version, onExport }: TracedServer): TraceEngine {
  const contexts = new AsyncLocalStorageContextManager().enable();
  const { exportEveryMs: scheduledDelayMillis } = settings;
  const exporter = observed(exporterOf(settings), onExport);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': name,
      'service.version': version,
      'service.namespace': 'dormouse',
    }),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis, exportTimeoutMillis: EXPORT_WITHIN_MS })],
  });
  const tracer = provider.getTracer('dormouse', version);
  const startIn = (
    context: Context,
    spanName: string,
    { kind = 'internal', facts, requestId }: SpanTerms,
  ): OpenSpan => {
    const span = tracer.startSpan(spanName, { kind: KINDS[kind], attributes: { ...facts } }, context);
    const within = trace.setSpan(context, span);
    return openSpan(span, requestId === undefined ? within : within.setValue(REQUEST_ID, requestId), contexts);
  };
  return {
    start: (spanName, terms) => startIn(parentOf(terms, contexts.active()), spanName, terms),
    active: () => {
      const context = contexts.active();
      const span = trace.getSpan(context);
      return span && openSpan(span, context, contexts);
    },
    facts: () => {
      const context = contexts.active();
      const at = trace.getSpanContext(context);
      if (!at) return {};
      const requestId = context.getValue(REQUEST_ID);
      const { traceId: trace_id, spanId: span_id } = at;
      return { ...(typeof requestId === 'string' && { requestId }), trace_id, span_id };
    },
    outside: (work) => contexts.with(ROOT_CONTEXT, work),
    close: async () => {
      await pTimeout(provider.shutdown(), { milliseconds: CLOSE_WITHIN_MS, fallback: () => undefined }).catch(
        () => undefined,
      );
      contexts.disable();
    },
  };
}

function parentOf({ parent }: SpanTerms, active: Context): Context {
  if (parent === undefined) return active;
  const given = parent === null ? null : parseTraceParent(parent);
  return given ? trace.setSpanContext(ROOT_CONTEXT, { ...given, isRemote: true }) : ROOT_CONTEXT;
}

function openSpan(span: Span, context: Context, contexts: AsyncLocalStorageContextManager): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    add: (facts: SpanFacts) => void span.setAttributes({ ...facts }),
    fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
    end: () => span.end(),
    run: (work) => contexts.with(context, work),
  };
}

function exporterOf({ endpoint, headers, protocol }: TraceSettings): SpanExporter {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  return new Exporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_WITHIN_MS });
}

/** Reports each change between exports that succeed and exports that do not. */
function observed(exporter: SpanExporter, onExport: TracedServer['onExport']): SpanExporter {
  let succeeds = true;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const now = result.code === ExportResultCode.SUCCESS;
        if (now !== succeeds) onExport?.(now);
        succeeds = now;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  const [, basis, rule] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const root =
    rule === 'always_off'
      ? new AlwaysOffSampler()
      : rule === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return basis === undefined ? root : new ParentBasedSampler({ root });
}
