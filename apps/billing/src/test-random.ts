/** Random numbers and choices, the same for the same seed. */
export interface Seeded {
  /** A number below 1. */
  (): number;
  chance(share: number): boolean;
  oneOf<T>(all: readonly T[]): T;
}

/** mulberry32. */
export function seeded(seed: number): Seeded {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return Object.assign(next, {
    chance: (share: number) => next() < share,
    oneOf: <T>(all: readonly T[]): T => {
      const one = all[Math.floor(next() * all.length)];
      if (one === undefined) throw new Error('there is nothing to choose from');
      return one;
    },
  });
}
