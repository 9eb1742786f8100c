import { Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { tidily, tidy } from './young-garbage.js';

/** The most that lay outside the heap while `pieces` pieces of 64 KiB were made and dropped, beside what was there. */
async function mostOutside(pieces: number): Promise<number> {
  const before = getHeapStatistics().external_memory;
  let most = 0;
  for (let piece = 0; piece < pieces; piece += 1) {
    Buffer.alloc(64 * 1024);
    if (piece % 4 === 0) await pause(1);
    most = Math.max(most, getHeapStatistics().external_memory - before);
  }
  return most;
}

describe('tidily', () => {
  it('keeps dropped pieces from gathering', async () => {
    expect(await tidily(() => mostOutside(1_600))).toBeLessThan(20 * 1024 * 1024);
  });

  it('hands results and failures on', async () => {
    expect(await tidily(() => Promise.resolve(7))).toBe(7);
    await expect(tidily(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

describe('tidy', () => {
  it('hands the stream on as it is, and ends with it however it ends', async () => {
    const stream = Readable.from([Buffer.from('a')]);
    expect(tidy(stream)).toBe(stream);
    stream.destroy();
    await turn();
    const failing = tidy(new Readable({ read: () => undefined }));
    failing.once('error', () => undefined);
    failing.destroy(new Error('broke'));
    await turn();
  });
});
