/** Does a process hold more at the end of a soak than when it had warmed up? */

/** What a process held at a moment, after a collection. */
export interface Sample {
  /** Since the traffic began. */
  atMs: number;
  rssBytes: number;
  heapBytes: number;
  bufferBytes: number;
}

/** By then every cache that is filled by time has been full: the longest that traffic fills keeps its entries for five minutes. */
const WARM_AT_MS = 10 * 60_000;
/** Samples of which the median is taken: what is under way at one moment is a megabyte more or less. */
const AROUND = 5;
/** How much more heap a process of the product may have at the end. */
export const MAY_GROW_BYTES = 2 * 2 ** 20;

export interface Growth {
  warm: Sample;
  end: Sample;
  /** Heap at the end less heap when warm. */
  grownBytes: number;
}

/**
 * Compares the last samples up to the first ten minutes with the last ones; of a run of less than 20 minutes with those of its
 * first half.
 * @returns undefined without samples of both
 */
export function growthOf(samples: readonly Sample[]): Growth | undefined {
  const warmAtMs = Math.min(WARM_AT_MS, (samples.at(-1)?.atMs ?? 0) / 2);
  const warm = medians(samples.filter(({ atMs }) => atMs <= warmAtMs).slice(-AROUND));
  const end = medians(samples.filter(({ atMs }) => atMs > warmAtMs).slice(-AROUND));
  return warm && end && { warm, end, grownBytes: end.heapBytes - warm.heapBytes };
}

function medians(samples: readonly Sample[]): Sample | undefined {
  const last = samples.at(-1);
  if (!last) return undefined;
  const median = (read: (sample: Sample) => number): number =>
    samples.map(read).sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
  return {
    atMs: last.atMs,
    rssBytes: median(({ rssBytes }) => rssBytes),
    heapBytes: median(({ heapBytes }) => heapBytes),
    bufferBytes: median(({ bufferBytes }) => bufferBytes),
  };
}
