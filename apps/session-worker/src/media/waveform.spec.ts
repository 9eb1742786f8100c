import { Waveform } from './waveform.js';

function pcm(samples: number[]): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, index) => bytes.writeInt16LE(sample, index * 2));
  return bytes;
}

describe('Waveform', () => {
  it('draws 64 bars, the loudest being 100', () => {
    const waveform = new Waveform();
    const rising = Array.from({ length: 64 * 160 }, (_, index) => Math.floor(index / 160) * 100 * (index % 2 ? 1 : -1));
    waveform.add(pcm(rising));
    const bars = waveform.bars();
    expect(bars).toHaveLength(64);
    expect([bars?.[0], bars?.[63]]).toEqual([0, 100]);
    expect([...(bars ?? [])]).toEqual([...(bars ?? [])].sort((a, b) => a - b));
  });

  it('is the same however the audio is cut into chunks', () => {
    const sound = pcm(
      Array.from({ length: 5_003 }, (_, index) => Math.round(Math.sin(index / 50) * 20_000 * (index / 5_003))),
    );
    const whole = new Waveform();
    whole.add(sound);
    const pieces = new Waveform();
    for (let at = 0; at < sound.length; at += 7) pieces.add(sound.subarray(at, at + 7));
    expect(pieces.bars()).toEqual(whole.bars());
  });

  it('has zeros for silence, 64 bars for a short sound, and none for no audio', () => {
    const silence = new Waveform();
    silence.add(Buffer.alloc(1_000));
    expect(silence.bars()).toEqual(new Uint8Array(64));
    const short = new Waveform();
    short.add(pcm([30_000]));
    expect(short.bars()).toEqual(new Uint8Array(64).fill(100));
    expect(new Waveform().bars()).toBeUndefined();
  });

  it('holds a bounded number of blocks, however long the audio is', () => {
    const waveform = new Waveform();
    const second = Buffer.alloc(16_000);
    for (let seconds = 0; seconds < 400; seconds += 1) {
      second.fill(seconds < 200 ? 1 : 8);
      waveform.add(second);
    }
    expect(waveform.held).toBeLessThan(8_192);
    const bars = waveform.bars();
    // Every part of the sound has its share of the bars: the first half is quiet, the second is not.
    expect(Math.max(...(bars?.subarray(0, 31) ?? []))).toBeLessThan(20);
    expect(Math.min(...(bars?.subarray(33) ?? []))).toBe(100);
    expect(bars?.[63]).toBe(100);
  });
});
