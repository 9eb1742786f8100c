import { tracePicture } from './trace-picture.js';

const span = (
  spanId: string,
  parentSpanId: string | undefined,
  startMs: number,
  endMs: number,
  service = 'edge-api',
) => ({
  spanId,
  ...(parentSpanId !== undefined && { parentSpanId }),
  name: `<${spanId}>`,
  service,
  startTimeUnixNano: `${1_700_000_000_000 + startMs}000000`,
  endTimeUnixNano: `${1_700_000_000_000 + endMs}000000`,
});

describe('tracePicture', () => {
  it('has a row for each span below the one it is a part of, in the order of their beginnings, with how long it took', () => {
    const spans = [
      span('late', 'root', 60, 70),
      span('inner', 'early', 20, 30, 'session-worker'),
      span('root', 'the client', 0, 100),
      span('early', 'root', 10, 50, 'session-worker'),
    ];
    const picture = tracePicture(JSON.stringify(spans), 'A "trace"');
    const texts = [...picture.matchAll(/<text x="(\d+)" y="\d+">([^<]*)</g)].map(([, x, text]) => [Number(x), text]);
    expect(texts.filter(([x]) => Number(x) < 100)).toEqual([
      [0, 'edge-api: &lt;root&gt;'],
      [14, 'session-worker: &lt;early&gt;'],
      [28, '&lt;inner&gt;'],
      [14, 'edge-api: &lt;late&gt;'],
    ]);
    expect(texts.flatMap(([x, text]) => (Number(x) < 100 ? [] : [text]))).toEqual([
      '100.0 ms',
      '40.0 ms',
      '10.0 ms',
      '10.0 ms',
    ]);
    const bars = [...picture.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"/g)].map(([, x, width]) => [
      x,
      width,
    ]);
    expect(bars).toEqual([
      ['330.0', '420.0'],
      ['372.0', '168.0'],
      ['414.0', '42.0'],
      ['582.0', '42.0'],
    ]);
    expect(picture).toContain('aria-label="A &quot;trace&quot;"');
  });
});
