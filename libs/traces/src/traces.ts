/**
 * The traces of this process: spans of the work it does, and how a trace goes on in jobs, events and calls.
 *
 * Guarantees: off, which is the default, nothing of OpenTelemetry is loaded, and a span is a call of its work. On, a span never
 * changes what its work does: it has the same outcome, and a receiver of traces that is away or slow costs spans, never a request.
 * Neither PostgreSQL nor Redis plays a part.
 */
import {
  NO_SPAN,
  type OpenSpan,
  type SpanTerms,
  type TracedServer,
  type TracedFacts,
  type TraceEngine,
  type TraceSettings,
} from './span.js';

let engine: TraceEngine | undefined;

/**
 * Begins to make spans. One at a time in a process.
 * @returns ends it, once what is left was sent or a bounded time is over
 */
export async function startTraces(settings: TraceSettings, server: TracedServer): Promise<() => Promise<void>> {
  if (engine) throw new Error('traces have begun already');
  const { openEngine } = await import('./otlp-engine.js');
  const own = openEngine(settings, server);
  engine = own;
  return async () => {
    if (engine === own) engine = undefined;
    await own.close();
  };
}

/** Whether spans are made: for work that is done only for them. */
export function isTracing(): boolean {
  return engine !== undefined;
}

/** Runs work as a span, which ends with it. An error of the work fails the span and is thrown on. */
export function inSpan<T>(name: string, terms: SpanTerms, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return engine ? runIn(engine.start(name, terms), work) : work(NO_SPAN);
}

async function runIn<T>(span: OpenSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** A span whose end the caller sees to. */
export function startSpan(name: string, terms: SpanTerms): OpenSpan {
  return engine ? engine.start(name, terms) : NO_SPAN;
}

/** The span that this runs in; one that takes everything and does nothing where there is none. */
export function activeSpan(): OpenSpan {
  return engine?.active() ?? NO_SPAN;
}

/** The W3C `traceparent` of the span that this runs in. */
export function traceparent(): string | undefined {
  return engine?.active()?.traceparent;
}

/** Which request and which span this runs in: a new object, for a line of a log. */
export function tracedFacts(): TracedFacts {
  return engine ? engine.facts() : {};
}

/** Runs work that goes on for longer than the request that happens to begin it, such as a connection: it is in no span. */
export function outsideTraces<T>(work: () => T): T {
  return engine ? engine.outside(work) : work();
}

/** The status of an error that has one, else its name. Its text may hold what a customer sent. */
function typeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  const status: unknown = Reflect.get(error, 'status');
  if (typeof status === 'number') return String(status);
  return error instanceof Error ? error.name : 'unknown';
}
