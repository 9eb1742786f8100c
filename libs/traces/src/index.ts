export {
  SAMPLERS,
  type OpenSpan,
  type SpanFacts,
  type SpanKind,
  type SpanTerms,
  type TracedFacts,
  type TracedServer,
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
} from './traces.js';
