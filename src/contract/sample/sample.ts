// Examples of a schema: an example of the document if there is one, otherwise a simple value (make-value.ts). sampleOf()
// searches until the validator accepts the value, exampleOf() takes the first. Both are limited by counted work, so the
// same schema always gives the same example.
import { printPointer, valueAt } from '../../core/base/pointer.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { DescribedSchema } from '../schema/bundle.ts';
import { ContractError, isList, isObject } from '../document/document.ts';
import { OutOfWork, pay } from '../schema/meter.ts';
import type { Work } from '../schema/meter.ts';
import { makeTexts } from './make-text.ts';
import { makeValue } from './make-value.ts';
import type { Decision, Making } from './schema-parts.ts';
import { child, type RefNode } from '../document/ref-node.ts';
import { examplesBeside } from '../schema/examples.ts';
import { makeValidator, type Validator } from '../schema/schema.ts';
import { shapeOf } from '../schema/shape.ts';

export type Sample = { kind: 'sample'; value: unknown } | { kind: 'none'; why: string };

/** Something that the example must have at a pointer: a value that `accepts` allows, otherwise `value`. */
export interface WantedValue {
  pointer: readonly string[];
  accepts: (value: unknown) => boolean;
  value: unknown;
}

/** The work limit for all examples of one contract together. */
export function contractWork(): Work {
  return { left: bounds.contractSampleStepsMax };
}

export const outOfWork = 'no example was found within the work limit';

/** A valid example: values are made until one is accepted. */
export function sampleOf(
  validator: Validator,
  work: Work = contractWork(),
  wanted: readonly WantedValue[] = [],
): Sample {
  return withinShare(work, (share) => search(validator, share, wanted));
}

/** One example may use only a part of the work, so that some is left for the others. */
function withinShare(work: Work, make: (share: Work) => Sample): Sample {
  const share = Math.min(Math.max(0, work.left), bounds.sampleStepsMax);
  const mine = { left: share };
  try {
    return make(mine);
  } catch (error) {
    // A ContractError: the schema is larger than the limit for one document.
    if (error instanceof OutOfWork || error instanceof ContractError) {
      return { kind: 'none', why: outOfWork };
    }
    throw error;
  } finally {
    work.left -= share - Math.max(0, mine.left);
  }
}

function search(validator: Validator, work: Work, wanted: readonly WantedValue[]): Sample {
  pay(work, Math.ceil(validator.weight()) * bounds.readStepsEach);
  const described = validator.described();
  for (const example of described.examples) {
    const value = withWanted(example, wanted, work);
    if (value !== undefined && validator.check(value, work).length === 0) return found(value, work);
  }
  const drawing = drawingOf(described, { wanted, shows: 'request', isBrief: false, work });
  const trials: Search = { waiting: new Map(), seen: new Set(), work };
  let next: Trial | undefined = { choices: new Map(), faults: [] };
  let best = faultsOfNothing;
  for (let tries = 0; next !== undefined && tries < bounds.sampleTriesMax; tries += 1) {
    const making: Making = { ...drawing, choices: next.choices, decisions: new Map(), values: 0 };
    const made = makeFirst(making);
    const value = withWanted(made, wanted, work);
    const faults = value === undefined ? faultsOfNothing : validator.check(value, work);
    if (faults.length === 0) return found(value, work);
    if (best === faultsOfNothing || faults.length < best.length) best = faults;
    branchOut(trials, { choices: next.choices, faults }, making.decisions);
    next = takeBest(trials);
  }
  const [first] = best;
  const place = first === undefined || first.field === '' ? 'the value' : first.field;
  return { kind: 'none', why: `no example could be generated: ${place} ${first?.message}` };
}

/** The first example of the document, or the first value that is made. Nothing is compiled or validated. */
export function exampleOf(
  describe: Validator['described'],
  { wanted, work, ...options }: ExampleOptions,
): Sample {
  return withinShare(work, (share) => {
    const described = describe();
    pay(share, Math.ceil(described.weight) * bounds.readStepsEach);
    const hasAll = (value: unknown): boolean =>
      wanted.every(({ pointer, accepts }) => accepts(valueAt(value, pointer)));
    const given = described.examples.find(hasAll);
    if (given !== undefined) return found(given, share);
    const drawing = drawingOf(described, { ...options, wanted, work: share });
    const made = makeFirst({ ...drawing, choices: new Map(), decisions: new Map(), values: 0 });
    const value = withWanted(made, wanted, share);
    return value === undefined ? { kind: 'none', why: nothingMade } : found(value, share);
  });
}

/** Of a response, which is not part of the contract: `media` holds its schema and examples. */
export function exampleAt(media: RefNode, options: ExampleOptions): Sample {
  return exampleOf(() => {
    const schema = child(media, 'schema');
    if (schema !== undefined) return makeValidator(schema, media).described();
    return { ...anything.described(), examples: examplesBeside(media) };
  }, options);
}

/** Used where no schema is declared. */
export const anything: Validator = {
  place: '#',
  schema: () => ({ $ref: '#/$defs/any', $defs: { any: true } }),
  shape: () => shapeOf(anything.schema()),
  prepare: () => undefined,
  check: () => [],
  weight: () => 1,
  described: () => ({ bundle: anything.schema(), places: new Map(), weight: 1, examples: [] }),
};

export interface ExampleOptions {
  wanted: readonly WantedValue[];
  shows: Making['shows'];
  isBrief: boolean;
  work: Work;
}

function drawingOf(
  described: DescribedSchema,
  { wanted, ...options }: ExampleOptions,
): Omit<Making, 'choices' | 'decisions' | 'values'> {
  const pointers = wanted.map(({ pointer }) => printPointer(pointer));
  return { described, ...options, wanted: pointers, texts: makeTexts(options.work) };
}

function makeFirst(making: Making): unknown {
  const start = {
    pointer: '',
    name: '',
    depth: 0,
    trail: [],
    variant: 0,
    isOdometer: false,
    mark: undefined,
  };
  return makeValue([{ $ref: making.described.bundle.$ref }], start, making);
}

/** Examples are printed, so the size of a large example of the document counts as work, too. */
function found(value: unknown, work: Work): Sample {
  pay(work, JSON.stringify(value).length * bounds.printStepsEach);
  return { kind: 'sample', value };
}

const nothingMade = 'no matching value was found';
const faultsOfNothing: readonly Fault[] = [{ field: '', message: nothingMade }];

/** Choices for making the value, and the faults of the value that they were derived from. */
interface Trial {
  choices: ReadonlyMap<string, number>;
  faults: readonly Fault[];
}

interface Search {
  /** By weight: trials with few faults first, then those with few choices. */
  waiting: Map<number, Trial[]>;
  seen: Set<string>;
  work: Work;
}

/** Adds trials that change one choice each, the choices nearest to a fault first. */
function branchOut(
  { waiting, seen, work }: Search,
  { choices, faults }: Trial,
  decisions: ReadonlyMap<string, Decision>,
): void {
  pay(work, (decisions.size * faults.length + decisionsMax) * bounds.sampleStepsEach);
  const near = [...decisions]
    .map(([key, decision]) => ({ key, ...decision, distance: distance(decision, faults) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, decisionsMax);
  const weight = faults.length * bounds.sampleTriesMax + choices.size + 1;
  const trials = waiting.get(weight) ?? [];
  waiting.set(weight, trials);
  for (const { key, chosen, count } of near) {
    for (let option = 0; option < Math.min(count, bounds.sampleOptionsMax); option += 1) {
      if (option === chosen) continue;
      const others = new Map([...choices, [key, option]]);
      const name = [...others].map(String).toSorted().join('\n');
      if (seen.has(name)) continue;
      seen.add(name);
      trials.push({ choices: others, faults });
    }
  }
}

/** How many choices of one trial are changed in further trials. */
const decisionsMax = 40;

/** The distance to the nearest fault: 0 at its pointer, more the further above or below it. */
function distance({ pointer }: Decision, faults: readonly Fault[]): number {
  const steps = faults.map(({ field }) => {
    const [shorter, longer] = pointer.length < field.length ? [pointer, field] : [field, pointer];
    const isOneWay = shorter === longer || longer.startsWith(`${shorter}/`);
    return isOneWay ? longer.slice(shorter.length).split('/').length - 1 : Infinity;
  });
  return Math.min(...steps, Number.MAX_SAFE_INTEGER);
}

function takeBest({ waiting }: Search): Trial | undefined {
  for (const weight of [...waiting.keys()].toSorted((a, b) => a - b)) {
    const trial = waiting.get(weight)?.shift();
    if (trial !== undefined) return trial;
    waiting.delete(weight);
  }
  return undefined;
}

/** The value, with each wanted value put in unless an acceptable one is there. */
function withWanted(made: unknown, wanted: readonly WantedValue[], work: Work): unknown {
  return wanted.reduce((before, { pointer, accepts, value }) => {
    if (accepts(valueAt(before, pointer))) return before;
    const put = (place: unknown, tokens: readonly string[]): unknown => {
      const [token, ...rest] = tokens;
      if (token === undefined) return isList(place) && typeof value === 'string' ? [value] : value;
      pay(work, Object.keys(place ?? {}).length * bounds.sampleStepsEach);
      return withMember(place, token, (inner) => put(inner, rest));
    };
    return put(before, pointer);
  }, made);
}

/** A copy of the list or object with one member replaced. A list grows to the index with copies of its first item. */
function withMember(before: unknown, token: string, make: (inner: unknown) => unknown): unknown {
  if (isList(before) && /^\d$/u.test(token)) {
    const at = Number(token);
    const grown = [
      ...before,
      ...Array.from({ length: Math.max(0, at + 1 - before.length) }, () => before[0]),
    ];
    return grown.with(at, make(before[at]));
  }
  const members = new Map(Object.entries(isObject(before) ? before : {}));
  return Object.fromEntries(members.set(token, make(members.get(token))));
}
