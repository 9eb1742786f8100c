import { tracesFrom } from './trace-switches.js';

const SWITCHES = {
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: 1,
  OTEL_BSP_SCHEDULE_DELAY: 5_000,
} as const;
const given = (more: object) => tracesFrom({ ...SWITCHES, ...more });

describe('tracesFrom', () => {
  it('makes no traces unless it is said where they go', () => {
    expect(given({})).toBeUndefined();
    expect(given({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeUndefined();
  });

  it('reads headers as OpenTelemetry does', () => {
    const headers = 'Authorization=Bearer%20secret, x-scope=a=b,';
    expect(given({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_EXPORTER_OTLP_HEADERS: headers })).toMatchObject({
      endpoint: 'http://c:4318',
      headers: { authorization: 'Bearer secret', 'x-scope': 'a=b' },
    });
  });

  it.each(['secret', '=secret', 'name=%zz'])('refuses headers such as %j, without repeating them', (headers) => {
    const read = () => given({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: headers });
    expect(read).toThrow(/OTEL_EXPORTER_OTLP_HEADERS: must be name=value/);
    expect(read).not.toThrow(/secret|%zz/);
  });
});
