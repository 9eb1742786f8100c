import type { Connection } from './connection.js';
import { Trace } from './trace.js';

const connection = (id: number): Connection => ({ id, device: undefined }) as Connection;

describe('the trace of stanzas', () => {
  it('holds them in order, with their connection and time', () => {
    const trace = new Trace(() => 7);
    trace.add(connection(1), 'in', Buffer.from('a'));
    trace.add(connection(2), 'out', Buffer.from('b'));
    expect(trace.all()).toEqual([
      { seq: 1, connection: 1, atMs: 7, direction: 'in', bytes: Buffer.from('a') },
      { seq: 2, connection: 2, atMs: 7, direction: 'out', bytes: Buffer.from('b') },
    ]);
    expect(trace.all((entry) => entry.connection === 2)).toHaveLength(1);
  });

  it('drops the oldest when they take too much memory', () => {
    const trace = new Trace(() => 0, 10_000);
    for (let index = 0; index < 1000; index++) trace.add(connection(1), 'in', Buffer.alloc(800, index));
    expect(trace.all().map(({ seq }) => seq)).toEqual([991, 992, 993, 994, 995, 996, 997, 998, 999, 1000]);
    trace.clear();
    expect(trace.all()).toEqual([]);
  });

  it('holds no more memory than its limit, whatever the stanzas are parts of', () => {
    const trace = new Trace(() => 0, 1_000_000);
    for (let index = 0; index < 1_000; index++) {
      const pool = new Uint8Array(64 * 1024);
      trace.add(connection(1), 'in', pool.subarray(0, 500));
    }
    const held = new Set(trace.all().map(({ bytes }) => bytes.buffer));
    expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(1_000_000);
  });
});
