/** Output options of ffmpeg for the PCM of a waveform: signed 16 bit, little endian, mono. */
export const WAVEFORM_PCM = ['-ac', '1', '-ar', '8000', '-f', 's16le'] as const;

const BARS = 64;
const HIGHEST = 100;
/** Samples of a block at the start: 20 ms at 8 kHz. */
const BLOCK_SAMPLES = 160;
/** When there are this many blocks, pairs of them are merged, so that the memory is bounded for audio of any length. */
const MAX_BLOCKS = 8_192;

/** Computes the waveform that phones draw for a voice note: 64 levels from 0 to 100, the loudest being 100. */
export class Waveform {
  #blocks: number[] = [];
  #blockSamples = BLOCK_SAMPLES;
  #sum = 0;
  #samples = 0;
  #odd: number | undefined;

  /** Adds a chunk of PCM; a chunk may end within a sample. */
  add(chunk: Uint8Array): void {
    let at = 0;
    if (this.#odd !== undefined && chunk.length > 0) {
      this.#sample(this.#odd, chunk[0] ?? 0);
      at = 1;
    }
    for (; at + 1 < chunk.length; at += 2) this.#sample(chunk[at] ?? 0, chunk[at + 1] ?? 0);
    if (at < chunk.length) this.#odd = chunk[at];
    else if (chunk.length > 0) this.#odd = undefined;
  }

  #sample(low: number, high: number): void {
    const value = ((high << 24) >> 16) | low;
    this.#sum += Math.abs(value);
    this.#samples += 1;
    if (this.#samples >= this.#blockSamples) this.#endBlock();
  }

  #endBlock(): void {
    this.#blocks.push(this.#sum / this.#samples);
    this.#sum = 0;
    this.#samples = 0;
    if (this.#blocks.length < MAX_BLOCKS) return;
    this.#blocks = Array.from({ length: MAX_BLOCKS / 2 }, (_, pair) => {
      return ((this.#blocks[2 * pair] ?? 0) + (this.#blocks[2 * pair + 1] ?? 0)) / 2;
    });
    this.#blockSamples *= 2;
  }

  /** How many blocks are held. */
  get held(): number {
    return this.#blocks.length;
  }

  /** The 64 values for everything that was added; undefined when nothing was. */
  bars(): Uint8Array | undefined {
    if (this.#samples > 0) this.#endBlock();
    const count = this.#blocks.length;
    if (count === 0) return undefined;
    const bars = Array.from({ length: BARS }, (_, bar) => {
      const from = Math.floor((bar * count) / BARS);
      const to = Math.max(from + 1, Math.floor(((bar + 1) * count) / BARS));
      const part = this.#blocks.slice(from, to);
      return part.reduce((sum, loudness) => sum + loudness, 0) / part.length;
    });
    const loudest = Math.max(...bars);
    return Uint8Array.from(bars, (bar) => (loudest === 0 ? 0 : Math.round((bar / loudest) * HIGHEST)));
  }
}
