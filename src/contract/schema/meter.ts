// Limits the cost of checks and searches, counted in steps and not in seconds: the same value is
// accepted or refused, and the same example is found, on every machine, however busy it is.
import { bounds } from '../document/bounds.ts';

export interface Meter {
  /** Throws when the budget is exceeded. */
  spend: (steps: number) => void;
  refill: (steps: number) => void;
  left: () => number;
  /** Schemas being applied, one inside the other: each takes a part of the stack. */
  depth: number;
}

export class Exhausted extends Error {
  constructor(stepsMax: number) {
    super(`it takes more than ${stepsMax} steps`);
    this.name = 'Exhausted';
  }
}

export class TooDeep extends Error {
  constructor() {
    super(`more than ${bounds.checkDepthMax} schemas apply to one another at one place of it`);
    this.name = 'TooDeep';
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
    left: () => Math.max(0, left),
    depth: 0,
  };
}

/** What a search may still cost, in the same steps. Searches that share it share the limit. */
export interface Work {
  left: number;
}

export class OutOfWork extends Error {}

/** Throws OutOfWork, before the work is done. */
export function pay(work: Work | undefined, steps: number): void {
  if (work === undefined) return;
  work.left -= steps;
  if (work.left < 0) throw new OutOfWork();
}

/** Runs with a full meter, or with the work that is left where that is less. The work pays for what was used. */
export function runMetered<T>(meter: Meter, { work, stepsMax }: Metered, run: () => T): T {
  const steps = Math.min(stepsMax, Math.max(0, work?.left ?? Infinity));
  meter.refill(steps);
  meter.depth = 0;
  try {
    return run();
  } catch (error) {
    if (error instanceof Exhausted && steps < stepsMax) throw new OutOfWork();
    throw error;
  } finally {
    if (work !== undefined) work.left -= steps - meter.left();
  }
}

interface Metered {
  work: Work | undefined;
  stepsMax: number;
}
