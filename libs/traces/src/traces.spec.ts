import {
  activeSpan,
  inSpan,
  isTracing,
  outsideTraces,
  startSpan,
  startTraces,
  tracedFacts,
  traceparent,
} from './traces.js';
import type { TraceSettings } from './span.js';

/** Nobody listens there, and nothing is exported before the end. */
const SETTINGS: TraceSettings = {
  endpoint: 'http://127.0.0.1:9',
  headers: {},
  protocol: 'http/json',
  sampler: 'parentbased_always_on',
  ratio: 1,
  exportEveryMs: 60_000,
};
const SERVER = { name: 'spec', version: '1.0.0' };
const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const [, TRACE_ID] = GIVEN.split('-');

describe('without traces', () => {
  it('a span is a call of its work, and names nothing', async () => {
    const work = jest.fn(() => Promise.resolve('done'));
    expect(await inSpan('work', {}, work)).toBe('done');
    expect([isTracing(), traceparent(), tracedFacts(), activeSpan().traceparent]).toEqual([
      false,
      undefined,
      {},
      undefined,
    ]);
    expect(startSpan('work', { parent: GIVEN, requestId: 'r' }).run(() => traceparent())).toBeUndefined();
    expect(outsideTraces(() => 'outside')).toBe('outside');
  });
});

describe('with traces', () => {
  let stop: () => Promise<void>;

  const start = async (settings: Partial<TraceSettings> = {}): Promise<void> => {
    stop = await startTraces({ ...SETTINGS, ...settings }, SERVER);
  };

  afterEach(() => stop());

  it('a span continues the trace that it is given, and what runs in it is a part of it', async () => {
    await start();
    const [outer, inner] = await inSpan('outer', { parent: GIVEN, requestId: 'request-1' }, async (span) => {
      await Promise.resolve();
      expect(tracedFacts()).toMatchObject({ requestId: 'request-1', trace_id: TRACE_ID });
      return [span.traceparent, await inSpan('inner', {}, () => Promise.resolve(traceparent()))];
    });
    expect([outer, inner].map((each) => each?.split('-')[1])).toEqual([TRACE_ID, TRACE_ID]);
    expect(new Set([GIVEN, outer, inner]).size).toBe(3);
    expect([traceparent(), tracedFacts()]).toEqual([undefined, {}]);
  });

  it.each([null, '', 'garbage', '00-00000000000000000000000000000000-b7ad6b7169203331-01', `${GIVEN}-more`])(
    'begins a new trace where %j is given, also within another span',
    async (parent) => {
      await start();
      await inSpan('outer', { parent: GIVEN }, async () => {
        const own = startSpan('inner', { parent }).traceparent;
        expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        expect(own).not.toContain(TRACE_ID);
        await Promise.resolve();
      });
    },
  );

  it('does not put what outlives a request into its trace', async () => {
    await start();
    await inSpan('request', { parent: GIVEN }, async () => {
      expect(outsideTraces(() => traceparent())).toBeUndefined();
      expect(await outsideTraces(async () => (await Promise.resolve(), tracedFacts()))).toEqual({});
    });
  });

  it('follows the client about what is recorded, or the share that is set', async () => {
    await start();
    expect(startSpan('work', { parent: GIVEN.replace(/01$/, '00') }).traceparent).toMatch(/-00$/);
    await stop();
    await start({ sampler: 'traceidratio', ratio: 0 });
    expect(startSpan('work', { parent: GIVEN }).traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
  });

  it('leaves outcomes as they are: an error of the work is thrown on', async () => {
    await start();
    const error = new RangeError('holds a text');
    await expect(inSpan('work', {}, () => Promise.reject(error))).rejects.toBe(error);
    expect(traceparent()).toBeUndefined();
  });

  it('are one at a time in a process', async () => {
    await start();
    await expect(startTraces(SETTINGS, SERVER)).rejects.toThrow('traces have begun already');
  });
});
