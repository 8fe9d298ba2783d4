// Asserts that validation work grows linearly with the size of a request. Every request schema of openapi.yaml
// validates hostile values of one size and of twice that size, and the steps are counted. They are counted, not
// timed, so that the result is the same on every machine.
import type { Fault } from '../../../src/core/errors/problem.ts';
import { bounds } from '../../../src/contract/document/bounds.ts';
import type { Operation } from '../../../src/contract/model/contract.ts';
import { makeCheck } from '../../../src/contract/schema/checker.ts';
import { costOf } from '../../../src/contract/schema/evaluation.ts';
import { definitionsOf } from '../../../src/contract/request/payload.ts';
import { createStepBudget, TooManySteps } from '../../../src/contract/schema/step-budget.ts';
import type { Validator } from '../../../src/contract/schema/schema.ts';
import type { Finding } from '../finding.ts';
import { readDocument } from '../fuzz/document.ts';
import { hostileValues, placesOf } from './hostile-values.ts';
import { contract, exampleBody } from './operations.ts';

type Sizes = readonly (readonly [less: number, more: number])[];

/** Pairs of sizes, in values: below the limit of most lists, above it, and (in full) near the limit of a body. */
export const smallSizes: Sizes = [
  [300, 600],
  [1_200, 2_400],
];
export const fullSizes: Sizes = [...smallSizes, [12_000, 24_000]];

/**
 * Steps may grow by this factor when the size doubles, plus `stepsSpare`, which absorbs small counts, and counting the
 * characters of a text that is just too long: the longest limit is 4,096.
 */
const growthMax = 2.2;
const stepsSpare = 15_000;
/**
 * Counting the properties of an object lists them: for the verdict of each branch, of which the body of a subscribe call
 * has three, and for the message about it.
 */
const listingsMax = 4;

export async function countWork(sizes: Sizes): Promise<Finding> {
  const violations: string[] = [];
  let [schemas, comparisons, stepsMost] = [0, 0, 0];
  for (const { name, validator, values } of await subjects()) {
    schemas += 1;
    const check = countingCheck(validator);
    for (const [shape, make] of Object.entries(values)) {
      for (const [less, more] of sizes) {
        const one = check(make(less));
        const two = check(make(more));
        comparisons += 1;
        stepsMost = Math.max(stepsMost, two.steps);
        const isTooLarge = one.isTooLarge && two.isTooLarge;
        const listing = one.isListed ? listingsMax * (more - less) * costOf.nameOfMany : 0;
        // A search for faults that exceeds its limit is repeated for the first fault only.
        const repeated = Math.max(0, two.runs - one.runs) * bounds.explainStepsMax;
        const most = isTooLarge ? one.steps + listing : growthMax * one.steps + repeated;
        if (two.steps <= most + stepsSpare) continue;
        const found = `${one.steps} steps for ${less} values, ${two.steps} for ${more}`;
        const kind = isTooLarge ? 'a value that is too large is searched' : 'work';
        violations.push(`${kind}: ${name}, ${shape}: ${found}`);
      }
    }
  }
  const figures = { schemas, comparisons, 'most steps of one check': stepsMost };
  return { part: 'clients: work counted', figures, violations: violations.slice(0, 20) };
}

interface Subject {
  name: string;
  validator: Validator;
  /** By shape: the value of that size. */
  values: Record<string, (n: number) => unknown>;
}

async function subjects(): Promise<Subject[]> {
  const compiled = await contract();
  const payloads = definitionsOf(compiled).flatMap(({ label, payload }) =>
    payload === undefined
      ? []
      : [{ name: `payload of ${label}`, validator: payload, values: plain }],
  );
  const all = [...compiled.operations.flatMap(subjectsOf), ...payloads];
  // Many operations share their parameters.
  return [...new Map(all.map((one) => [one.validator.place, one])).values()];
}

const plain = Object.fromEntries(
  Object.entries(hostileValues).flatMap(([name, make]) => [
    [name, (n: number): unknown => JSON.parse(make(n))],
    [`message: ${name}`, (n: number): unknown => JSON.parse(`{"message":${make(n)}}`)],
  ]),
);

function subjectsOf({ operationId, parameters, body }: Operation): Subject[] {
  const ofParameters = parameters.flatMap(({ name, schema }) =>
    schema === undefined
      ? []
      : [{ name: `${operationId}, ${name}`, validator: schema, values: plain }],
  );
  const validator = body?.content.get('application/json');
  if (validator === undefined) return ofParameters;
  return [...ofParameters, { name: operationId, validator, values: bodiesOf(operationId) }];
}

function bodiesOf(operationId: string): Subject['values'] {
  const document = readDocument();
  const operation = document.operations.find((one) => one.operationId === operationId);
  if (operation === undefined) throw new Error(`Cannot find ${operationId} in the document`);
  const example = exampleBody(operationId);
  const hostile = placesOf(document, operation, JSON.stringify(example)).flatMap((place) =>
    Object.entries(hostileValues).map(([shape, make]): [string, (n: number) => unknown] => [
      `${place.name} ${shape}`,
      (n) => JSON.parse(place.bodyWith(make(n))),
    ]),
  );
  // Valid except for the number of items.
  const repeated = Object.entries(example).flatMap(([key, value]) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    const many = (n: number): unknown => ({ ...example, [key]: Array(n).fill(items[0]) });
    return items.length === 0 ? [] : [[`/${key} valid items`, many] as const];
  });
  return Object.fromEntries([...hostile, ...repeated]);
}

interface Counted {
  steps: number;
  /** How often it was checked: without a fault, to find all, and to find the first. */
  runs: number;
  /** Refused for its size, before any other rule is checked. */
  isTooLarge: boolean;
  /** Refused for its number of properties. */
  isListed: boolean;
}

function countingCheck(validator: Validator): (value: unknown) => Counted {
  const budget = createStepBudget();
  let [steps, runs] = [0, 0];
  const check = makeCheck(validator.schema(), {
    ...budget,
    spend: (some) => {
      steps += some;
      budget.spend(some);
    },
    refill: (some) => {
      runs += 1;
      budget.refill(some);
    },
  });
  return (value) => {
    [steps, runs] = [0, 0];
    const message = messageOf(() => check(value));
    const isTooLarge = message.startsWith('must have at most ');
    return { steps, runs, isTooLarge, isListed: isTooLarge && message.includes(' propert') };
  };
}

/** The first fault. A check that exceeds its limit of steps refuses the value. */
function messageOf(check: () => readonly Fault[]): string {
  try {
    return check()[0]?.message ?? '';
  } catch (error) {
    if (error instanceof TooManySteps) return error.message;
    throw error;
  }
}
