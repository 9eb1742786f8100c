import { SAMPLERS, startTraces, type TraceSettings } from '@dormouse/traces';
import { z } from 'zod';
import type { Logger } from './log.js';
import { ConfigError, variable } from './read-config.js';
import type { RunningServer } from './run-server.js';

/** The standard switches of OpenTelemetry that every server knows; the apps' `config.ts` has what each is for. */
export const traceVariable = {
  endpoint: () => variable.url('http', 'https').optional(),
  headers: () => z.string().optional(),
  protocol: () => z.enum(['http/protobuf', 'http/json']).default('http/protobuf'),
  sampler: () => z.enum(SAMPLERS).default('parentbased_always_on'),
  samplerArg: () =>
    z
      .string()
      .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, 'must be a share between 0 and 1')
      .transform(Number)
      .default(1),
  exportEveryMs: () => variable.integer(1, 60_000).default(5_000),
} as const;

export interface TraceSwitches {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_EXPORTER_OTLP_PROTOCOL: TraceSettings['protocol'];
  OTEL_TRACES_SAMPLER: TraceSettings['sampler'];
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_BSP_SCHEDULE_DELAY: number;
}

/**
 * Where the traces of a process go; undefined: there are none.
 * @throws {ConfigError} for headers that are no list of `name=value`; values are not repeated
 */
export function tracesFrom(read: TraceSwitches): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = read;
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    headers: headersOf(headers),
    protocol: read.OTEL_EXPORTER_OTLP_PROTOCOL,
    sampler: read.OTEL_TRACES_SAMPLER,
    ratio: read.OTEL_TRACES_SAMPLER_ARG,
    exportEveryMs: read.OTEL_BSP_SCHEDULE_DELAY,
  };
}

/** As OpenTelemetry reads them: `name=value,name=value`, values percent-encoded. */
function headersOf(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(pair) ?? [];
      const decoded = value === undefined ? undefined : decode(value.trim());
      if (name === undefined || decoded === undefined)
        throw new ConfigError(['OTEL_EXPORTER_OTLP_HEADERS: must be name=value, separated by commas, percent-encoded']);
      return [name.toLowerCase(), decoded];
    }),
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Starts a server with its traces, which end after it has drained. */
export async function startTraced(
  traces: TraceSettings | undefined,
  server: { name: string; version: string; log: Logger },
  start: () => Promise<RunningServer>,
): Promise<RunningServer> {
  if (!traces) return start();
  const { log, ...named } = server;
  const stop = await startTraces(traces, {
    ...named,
    onExport: (succeeds) => {
      if (succeeds) log.info({}, 'traces are exported again');
      else log.warn({}, 'traces cannot be exported: spans are lost until the receiver is back');
    },
  });
  try {
    const running = await start();
    return {
      ...running,
      drain: async () => {
        await running.drain();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
