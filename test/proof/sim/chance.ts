// Seeded random numbers: the same seed gives the same numbers on any machine.

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  /** From `least` up to `most`. */
  between(least: number, most: number): number;
  /** An integer from `least` to `most`. */
  whole(least: number, most: number): number;
  isLucky(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  bytes(count: number): Uint8Array;
}

/** mulberry32. */
export function seededChance(seed: number): Chance {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    between: (least, most) => least + next() * (most - least),
    isLucky: (probability) => next() < probability,
    pick: <T>(list: readonly T[]): T => {
      const found = list[whole(0, list.length - 1)];
      if (found === undefined) throw new Error('Cannot pick: the list is empty');
      return found;
    },
    bytes: (count) => {
      const made = new Uint8Array(count);
      for (let at = 0; at < count; at += 1) made[at] = Math.floor(next() * 256);
      return made;
    },
  };
}
