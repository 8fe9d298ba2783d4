// Limits the cost of checks and searches, counted in steps and not in seconds: the same value is
// accepted or refused, and the same example is found, on every machine, however busy it is.
import { bounds } from '../document/bounds.ts';

export interface StepBudget {
  /** Throws when the budget is exceeded. */
  spend: (steps: number) => void;
  refill: (steps: number) => void;
  left: () => number;
  /** Schemas being applied, one inside the other: each takes a part of the stack. */
  depth: number;
}

export class TooManySteps extends Error {
  constructor(stepsMax: number) {
    super(`it takes more than ${stepsMax} steps`);
    this.name = 'TooManySteps';
  }
}

export class TooDeep extends Error {
  constructor() {
    super(`more than ${bounds.checkDepthMax} schemas apply to one another at one place of it`);
    this.name = 'TooDeep';
  }
}

export function createStepBudget(): StepBudget {
  let left = 0;
  let full = 0;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooManySteps(full);
    },
    refill(steps) {
      left = steps;
      full = steps;
    },
    left: () => Math.max(0, left),
    depth: 0,
  };
}

/** What a search may still cost, in the same steps. Searches that share one share its limit. */
export interface WorkBudget {
  left: number;
}

export class OutOfWork extends Error {}

/** Throws OutOfWork, before the work is done. */
export function spendWork(work: WorkBudget | undefined, steps: number): void {
  if (work === undefined) return;
  work.left -= steps;
  if (work.left < 0) throw new OutOfWork();
}

/** Runs with a full step budget, limited to what is left of the work budget, which pays for it. */
export function runWithBudget<T>(
  budget: StepBudget,
  { work, stepsMax }: BudgetOptions,
  run: () => T,
): T {
  const steps = Math.min(stepsMax, Math.max(0, work?.left ?? Infinity));
  budget.refill(steps);
  budget.depth = 0;
  try {
    return run();
  } catch (error) {
    if (error instanceof TooManySteps && steps < stepsMax) throw new OutOfWork();
    throw error;
  } finally {
    if (work !== undefined) work.left -= steps - budget.left();
  }
}

interface BudgetOptions {
  work: WorkBudget | undefined;
  stepsMax: number;
}
