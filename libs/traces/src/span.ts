/** What stands in a span: facts with these names, short values from lists of ours. Nothing that a request or a message contains. */
export interface SpanFacts {
  'http.request.method'?: string;
  /** The route's template, never the path: paths hold ids of chats. */
  'http.route'?: string;
  'http.response.status_code'?: number;
  'server.address'?: string;
  'server.port'?: number;
  'messaging.system'?: 'bullmq' | 'postgresql' | 'whatsapp';
  'messaging.destination.name'?: string;
  'messaging.destination.template'?: string;
  'messaging.operation.name'?: string;
  'messaging.operation.type'?: 'send' | 'process';
  'messaging.message.id'?: string;
  /** Name of a command of the catalogue. */
  'dormouse.command'?: string;
  'dormouse.channel.id'?: string;
  'dormouse.webhook.id'?: string;
}

/** As the field distinguishes them. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

export interface SpanTerms {
  /** Default: internal. */
  readonly kind?: SpanKind;
  readonly facts?: SpanFacts;
  /**
   * The W3C `traceparent` that came with the work; null, or what is none: a new trace begins. Absent: the span is a part of the one
   * that it is started in.
   */
  readonly parent?: string | null;
  /** It and everything within belong to this request. */
  readonly requestId?: string;
}

export interface OpenSpan {
  /** The W3C `traceparent` to give to what goes on elsewhere; undefined without traces. */
  readonly traceparent: string | undefined;
  add(facts: SpanFacts): void;
  /** @param type a status or the name of an error; never its text */
  fail(type: string): void;
  end(): void;
  /** Runs work within the span. */
  run<T>(work: () => T): T;
}

/** The span where there are no traces. */
export const NO_SPAN: OpenSpan = {
  traceparent: undefined,
  add: () => undefined,
  fail: () => undefined,
  end: () => undefined,
  run: (work) => work(),
};

/** Names of what is in every line of a log within a span; the field's own names. */
export interface TracedFacts {
  requestId?: string;
  trace_id?: string;
  span_id?: string;
}

/** What makes spans and sends them away. */
export interface TraceEngine {
  start(name: string, terms: SpanTerms): OpenSpan;
  active(): OpenSpan | undefined;
  facts(): TracedFacts;
  outside<T>(work: () => T): T;
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>;
}

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TraceSettings {
  /** Base URL of a receiver of OTLP over HTTP; `/v1/traces` is appended. */
  readonly endpoint: string;
  /** Sent with every export; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of traces that are recorded, 0 to 1, for samplers by ratio. */
  readonly ratio: number;
  /** Interval between exports. */
  readonly exportEveryMs: number;
}

export interface TracedServer {
  /** The app. */
  readonly name: string;
  readonly version: string;
  /** Called when spans could not be sent, and again when they can be. */
  readonly onExport?: (succeeds: boolean) => void;
}
