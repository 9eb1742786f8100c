export {
  SAMPLERS,
  type OpenSpan,
  type SpanFacts,
  type SpanKind,
  type SpanTerms,
  type TracedFacts,
  type TraceSettings,
} from './span.js';
export {
  activeSpan,
  inSpan,
  isTracing,
  outsideTraces,
  startSpan,
  startTraces,
  tracedFacts,
  traceparent,
  type TracedServer,
} from './traces.js';
