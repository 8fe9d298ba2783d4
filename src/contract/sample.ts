// Makes a valid example of a schema: the document's own where they are valid, else something simple.
// The validator has the last word; where it says no, other choices are tried, a bounded number of
// times. The same schema always gives the same example.
import type { Fault } from '../core/problem.ts';
import { printPointer } from '../core/pointer.ts';
import { bounds } from './bounds.ts';
import { ContractError, isList, isObject, own } from './document.ts';
import type { Decision, Making } from './sample-parts.ts';
import { makeValue } from './sample-value.ts';
import type { Validator } from './schema.ts';

export type Sample = { kind: 'sample'; value: unknown } | { kind: 'none'; why: string };

/** Something that the example must have at a place: a value that is accepted, else this one. */
export interface Wish {
  pointer: readonly string[];
  accepts: (value: unknown) => boolean;
  value: unknown;
}

export function sampleOf(validator: Validator, wishes: readonly Wish[] = []): Sample {
  try {
    return search(validator, wishes);
  } catch (error) {
    // The schema is larger than what is looked at of one document.
    if (error instanceof ContractError) return { kind: 'none', why: error.message };
    throw error;
  }
}

function search(validator: Validator, wishes: readonly Wish[]): Sample {
  const described = validator.described();
  const wanted = wishes.map(({ pointer }) => printPointer(pointer));
  for (const example of described.examples) {
    const value = grant(example, wishes);
    if (value !== undefined && validator.check(value).length === 0)
      return { kind: 'sample', value };
  }
  const trials: Search = { waiting: [], seen: new Set() };
  let next: Trial | undefined = { choices: new Map(), faults: [] };
  let best: readonly Fault[] | undefined;
  for (let tries = 0; next !== undefined && tries < bounds.sampleTriesMax; tries += 1) {
    const making: Making = {
      described,
      choices: next.choices,
      decisions: new Map(),
      left: bounds.sampleValuesMax,
      wanted,
    };
    const value = grant(makeValue([{ $ref: described.bundle.$ref }], start, making), wishes);
    const faults = value === undefined ? nothingMade : validator.check(value);
    if (faults.length === 0) return { kind: 'sample', value };
    if (best === undefined || faults.length < best.length) best = faults;
    branchOut(trials, { choices: next.choices, faults }, making.decisions);
    next = takeBest(trials);
  }
  return { kind: 'none', why: reasonOf(best ?? nothingMade) };
}

const start = { pointer: '', name: '', depth: 0, trail: [], variant: 0, preferred: [] };

const nothingMade: readonly Fault[] = [{ field: '', message: 'no matching value was found' }];

/** A way to make the value, and what was wrong with the value that it was derived from. */
interface Trial {
  choices: ReadonlyMap<string, number>;
  faults: readonly Fault[];
}

interface Search {
  waiting: Trial[];
  seen: Set<string>;
}

/** One choice made otherwise, those nearest to a fault first. */
function branchOut(
  { waiting, seen }: Search,
  trial: Trial,
  decisions: ReadonlyMap<string, Decision>,
): void {
  const near = [...decisions]
    .map(([key, decision]) => ({ key, ...decision, distance: distance(decision, trial.faults) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, decisionsMax);
  for (const { key, chosen, count } of near) {
    for (let option = 0; option < Math.min(count, bounds.sampleOptionsMax); option += 1) {
      if (option === chosen) continue;
      const choices = new Map([...trial.choices, [key, option]]);
      const name = [...choices].map(String).toSorted().join('\n');
      if (seen.has(name)) continue;
      seen.add(name);
      waiting.push({ choices, faults: trial.faults });
    }
  }
}

/** Choices of one trial that are worth another one. */
const decisionsMax = 40;

/** 0 where the fault is; more the further above or below it. */
function distance({ pointer }: Decision, faults: readonly Fault[]): number {
  const steps = faults.map(({ field }) => {
    const [shorter, longer] = pointer.length < field.length ? [pointer, field] : [field, pointer];
    const isOneWay = shorter === longer || longer.startsWith(`${shorter}/`);
    return isOneWay ? longer.slice(shorter.length).split('/').length - 1 : farAway;
  });
  return Math.min(...steps, farAway);
}

const farAway = 1_000;

/** Few faults first, then few choices, then in the order in which they were thought of. */
function takeBest({ waiting }: Search): Trial | undefined {
  let best = 0;
  waiting.forEach((trial, index) => {
    const other = waiting[best];
    if (other !== undefined && weight(trial) < weight(other)) best = index;
  });
  return waiting.splice(best, 1)[0];
}

function weight({ choices, faults }: Trial): number {
  return faults.length * farAway + choices.size;
}

function reasonOf(faults: readonly Fault[]): string {
  const [first] = faults;
  if (first === undefined || first.field === '') {
    return `no example could be generated: the value ${first?.message ?? 'does not match'}`;
  }
  return `no example could be generated: ${first.field} ${first.message}`;
}

/** The value with what is wished for put in, where it is not there already. */
function grant(value: unknown, wishes: readonly Wish[]): unknown {
  return wishes.reduce((made, { pointer, accepts, value: wished }) => {
    return accepts(valueAt(made, pointer)) ? made : withValue(made, pointer, wished);
  }, value);
}

export function valueAt(root: unknown, pointer: readonly string[]): unknown {
  let value = root;
  for (const token of pointer) {
    if (isList(value)) value = /^\d+$/u.test(token) ? value[Number(token)] : undefined;
    else value = isObject(value) ? own(value, token) : undefined;
  }
  return value;
}

function withValue(before: unknown, pointer: readonly string[], value: unknown): unknown {
  const [token, ...rest] = pointer;
  if (token === undefined) return isList(before) && typeof value === 'string' ? [value] : value;
  if (isList(before) && /^\d$/u.test(token)) {
    const filled = Array.from(
      { length: Math.max(before.length, Number(token) + 1) },
      (_none, at) => (at < before.length ? before[at] : before[0]),
    );
    return filled.with(Number(token), withValue(before[Number(token)], rest, value));
  }
  const members = new Map(Object.entries(isObject(before) ? before : {}));
  return Object.fromEntries(members.set(token, withValue(members.get(token), rest, value)));
}
