// Limits the cost of checking a value, counted in steps and not in seconds: the same value is
// accepted or refused on every machine, however busy it is.

export interface Meter {
  /** Throws when the budget is exceeded. */
  spend: (steps: number) => void;
  refill: (steps: number) => void;
}

export class Exhausted extends Error {
  constructor(stepsMax: number) {
    super(`it takes more than ${stepsMax} steps`);
    this.name = 'Exhausted';
  }
}

export function makeMeter(): Meter {
  let left = 0;
  let full = 0;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new Exhausted(full);
    },
    refill(steps) {
      left = steps;
      full = steps;
    },
  };
}
