import { EventStream, type Source } from './event-stream.js';

class FakeSource implements Source {
  onopen: Source['onopen'] = null;
  onerror: Source['onerror'] = null;
  isClosed = false;
  private readonly listeners = new Map<string, (event: MessageEvent<string>) => void>();

  constructor(readonly address: string) {}

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.listeners.set(type, listener);
  }

  close(): void {
    this.isClosed = true;
  }

  receive(type: string, data: unknown, lastEventId = ''): void {
    this.listeners.get(type)?.(new MessageEvent(type, { data: JSON.stringify(data), lastEventId }));
  }

  open = (): void => void this.onopen?.(new Event('open'));
  fail = (): void => void this.onerror?.(new Event('error'));
}

/** A stream on fake sources, with a clock that is moved by hand. */
function streamOf() {
  const sources: FakeSource[] = [];
  const seen: unknown[] = [];
  const waits: { ms: number; callback: () => void }[] = [];
  const stream = new EventStream({
    address: (lastEventId) => `/events?after=${lastEventId ?? 'none'}`,
    events: ['message', 'code'],
    onEvent: ({ name, data }) => void seen.push([name, data]),
    onOpen: () => void seen.push('open'),
    onAway: () => void seen.push('away'),
    openSource: (address) => {
      const source = new FakeSource(address);
      sources.push(source);
      return source;
    },
    wait: (callback, ms) => {
      const wait = { ms, callback };
      waits.push(wait);
      return () => void waits.splice(waits.indexOf(wait), 1);
    },
  });
  const last = (): FakeSource => {
    const source = sources.at(-1);
    if (!source) throw new Error('no source was opened');
    return source;
  };
  return { stream, sources, seen, waits, last, pass: () => waits.shift()?.callback() };
}

describe('EventStream', () => {
  it('hands on events by name, with their data parsed', () => {
    const { last, seen } = streamOf();
    last().open();
    last().receive('message', { a: 1 });
    last().receive('code', { code: 'x' });
    expect(seen).toEqual(['open', ['message', { a: 1 }], ['code', { code: 'x' }]]);
  });

  it('opens again after the last event that it received, and reports once that it is away', () => {
    const { last, sources, seen, waits, pass } = streamOf();
    last().open();
    last().receive('message', 1, '41');
    last().fail();
    expect(sources[0]?.isClosed).toBe(true);
    expect(waits.map(({ ms }) => ms)).toEqual([1_000]);
    pass();
    expect(last().address).toBe('/events?after=41');
    last().fail();
    expect(waits.map(({ ms }) => ms)).toEqual([2_000]);
    pass();
    last().open();
    expect(seen).toEqual(['open', ['message', 1], 'away', 'open']);
  });

  it('waits 10 s at most, and 1 s again after it was open', () => {
    const { last, waits, pass } = streamOf();
    const waited: (number | undefined)[] = [];
    for (let n = 0; n < 6; n++) {
      last().fail();
      waited.push(waits[0]?.ms);
      pass();
    }
    expect(waited).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    last().open();
    last().fail();
    expect(waits[0]?.ms).toBe(1_000);
  });

  it('takes nothing from a source that it has replaced', () => {
    const { last, sources, seen, pass } = streamOf();
    const [first] = sources;
    first?.fail();
    pass();
    first?.receive('message', 'old');
    first?.fail();
    last().receive('message', 'new');
    expect(seen).toEqual(['away', ['message', 'new']]);
    expect(sources).toHaveLength(2);
  });

  it('reports nothing and opens nothing once it is closed', () => {
    const { stream, last, sources, seen, waits } = streamOf();
    last().fail();
    stream.close();
    expect(waits).toEqual([]);
    const other = streamOf();
    other.stream.close();
    other.last().receive('message', 1);
    other.last().fail();
    expect(other.seen).toEqual([]);
    expect(other.last().isClosed).toBe(true);
    expect([seen, sources.length]).toEqual([['away'], 1]);
  });
});
