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
  const make = maker(described, { wanted, shows: 'request', isBrief: false, work });
  const trials: Trial[] = [{ choices: new Map(), rank: 0 }];
  const seen = new Set<string>();
  let best: readonly Fault[] | undefined;
  for (let tries = 0; tries < bounds.sampleTriesMax; tries += 1) {
    const next = takeBest(trials);
    if (next === undefined) break;
    const { value, decisions } = make(next.choices);
    const isMade = value !== undefined;
    const faults = isMade ? validator.check(value, work) : [{ field: '', message: nothingMade }];
    if (faults.length === 0) return found(value, work);
    if (isMade && faults.length < (best?.length ?? Infinity)) best = faults;
    pay(work, (decisions.size * faults.length + changesMax) * bounds.sampleStepsEach);
    trials.push(...changed(next.choices, { decisions, faults, seen }));
  }
  const [{ field, message }] = [...(best ?? []), { field: '', message: nothingMade }];
  const why = `no example could be generated: ${field === '' ? 'the value' : field} ${message}`;
  return { kind: 'none', why };
}

/** The first example of the document, or the first value that is made. Nothing is compiled or validated. */
export function exampleOf(
  describe: Validator['described'],
  { work, ...options }: ExampleOptions,
): Sample {
  return withinShare(work, (share) => {
    const described = describe();
    pay(share, Math.ceil(described.weight) * bounds.readStepsEach);
    const given = described.examples.find((value) =>
      options.wanted.every(({ pointer, accepts }) => accepts(valueAt(value, pointer))),
    );
    const make = maker(described, { ...options, work: share });
    const value = given ?? make(new Map()).value;
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

const nothingMade = 'no matching value was found';

/** Makes a value for each set of choices. */
function maker(
  described: DescribedSchema,
  { wanted, ...options }: ExampleOptions,
): (choices: Making['choices']) => { value: unknown; decisions: Making['decisions'] } {
  const pointers = wanted.map(({ pointer }) => printPointer(pointer));
  const all = { described, ...options, wanted: pointers, texts: makeTexts(options.work) };
  const start = { pointer: '', name: '', depth: 0, trail: [], variant: 0, mark: undefined };
  return (choices) => {
    const decisions: Making['decisions'] = new Map();
    const making = { ...all, choices, decisions, values: 0 };
    const there = { ...start, isOdometer: false };
    const made = makeValue([{ $ref: described.bundle.$ref }], there, making);
    return { value: withWanted(made, wanted, options.work), decisions };
  };
}

/** Examples are printed, so the size of a large example of the document counts as work, too. */
function found(value: unknown, work: Work): Sample {
  pay(work, JSON.stringify(value).length * bounds.printStepsEach);
  return { kind: 'sample', value };
}

interface Trial {
  choices: Making['choices'];
  /** Few faults in the value that it was derived from come first, then few choices. */
  rank: number;
}

interface Outcome {
  decisions: Making['decisions'];
  faults: readonly Fault[];
  /** All sets of choices so far. */
  seen: Set<string>;
}

/** How many choices of one trial are changed in further trials. */
const changesMax = 40;

/** Trials that change one choice each, the choices nearest to a fault first. */
function changed(choices: Making['choices'], { decisions, faults, seen }: Outcome): Trial[] {
  const near = [...decisions]
    .map(([key, decision]) => ({ key, ...decision, distance: distance(decision, faults) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, changesMax);
  const rank = faults.length * bounds.sampleTriesMax + choices.size;
  return near.flatMap(({ key, chosen, count }) => {
    const options = Array.from({ length: Math.min(count, bounds.sampleOptionsMax) }, (_, at) => at);
    return options.flatMap((option) => {
      const others = new Map([...choices, [key, option]]);
      const name = [...others].map(String).toSorted().join('\n');
      if (option === chosen || seen.has(name)) return [];
      seen.add(name);
      return [{ choices: others, rank }];
    });
  });
}

/** The distance to the nearest fault: 0 at its pointer, more the further above or below it. */
function distance({ pointer }: Decision, faults: readonly Fault[]): number {
  const steps = faults.map(({ field }) => {
    const [shorter, longer] = pointer.length < field.length ? [pointer, field] : [field, pointer];
    const isOneWay = shorter === longer || longer.startsWith(`${shorter}/`);
    return isOneWay ? longer.slice(shorter.length).split('/').length - 1 : Infinity;
  });
  return Math.min(...steps, Number.MAX_SAFE_INTEGER);
}

/** Of those with the lowest rank the first. */
function takeBest(trials: Trial[]): Trial | undefined {
  const lowest = trials.reduce((rank, trial) => Math.min(rank, trial.rank), Infinity);
  const at = trials.findIndex(({ rank }) => rank === lowest);
  return at < 0 ? undefined : trials.splice(at, 1)[0];
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
    const length = Math.max(before.length, at + 1);
    return Array.from({ length }, (_none, index) =>
      index === at ? make(before[at]) : before[index < before.length ? index : 0],
    );
  }
  const members = new Map(Object.entries(isObject(before) ? before : {}));
  return Object.fromEntries(members.set(token, make(members.get(token))));
}
