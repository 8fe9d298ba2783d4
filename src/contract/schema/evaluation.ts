// What the rules of a schema share: where in a value they are, what they may still cost, and what they found.
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import type { JsonObject } from '../document/document.ts';
import type { Finding } from './explain.ts';
import { TooDeep, type StepBudget } from './step-budget.ts';

/** Returns whether the value fits. If not, the rule reports why wherever findings are collected. */
export type Rule = (value: unknown, at: At) => boolean;

export interface At {
  budget: StepBudget;
  /** JSON pointer of the value; only maintained while findings are collected. */
  path: string;
  /** Undefined where only the verdict matters. */
  findings: Finding[] | undefined;
  /** Whether to continue after the first finding. */
  isThorough: boolean;
  /** What was evaluated of this value, for `unevaluatedProperties` and `unevaluatedItems`. */
  seen: Seen | undefined;
}

/** Marks a member as evaluated. */
export function markEvaluated({ seen, budget }: At, name: string): void {
  if (seen === undefined) return;
  budget.spend(costOf.entry);
  seen.names.add(name);
}

/** A schema as rules. It is read when the first value reaches it, and the check of that value pays for it. */
export interface Node {
  rules: Rules | undefined;
  read: (budget: StepBudget) => Rules;
}

export interface Rules {
  all: readonly Rule[];
  /** If one of so many rules at the start fails, the value is too large to be searched for other faults. */
  sizes: number;
  cost: number;
  /** Where the schema only names types: decides without steps of its own. */
  isOfType: ((value: unknown) => boolean) | undefined;
  /** `unevaluatedProperties` must not see what the schemas around this one evaluated. */
  isTracking: boolean;
}

export function rulesOf(sizes: readonly Rule[], others: readonly Rule[]): Rules {
  const all = [...sizes, ...others];
  const cost = costOf.schema + costOf.rule * all.length;
  return { all, sizes: sizes.length, cost, isOfType: undefined, isTracking: false };
}

export function rulesAt(node: Node, { budget }: At): Rules {
  return (node.rules ??= node.read(budget));
}

export function apply(node: Node, value: unknown, at: At): boolean {
  const { budget } = at;
  const rules = rulesAt(node, at);
  budget.depth += 1;
  if (budget.depth > bounds.checkDepthMax) throw new TooDeep();
  const isFitting = rules.isTracking
    ? applyTracking(rules, value, at)
    : applyRules(rules, value, at);
  budget.depth -= 1;
  return isFitting;
}

function applyTracking(rules: Rules, value: unknown, at: At): boolean {
  const seen = nothingSeen();
  const isFitting = applyRules(rules, value, { ...at, seen });
  mergeSeen(at.seen, seen, at.budget);
  return isFitting;
}

export function applyRules({ all, sizes, cost }: Rules, value: unknown, at: At): boolean {
  at.budget.spend(cost);
  let isFitting = true;
  for (let n = 0; n < all.length; n += 1) {
    if (all[n]?.(value, at) === true) continue;
    if (!at.isThorough || n < sizes) return false;
    isFitting = false;
  }
  return isFitting;
}

export interface Reader {
  nodeOf: (schema: unknown) => Node;
  /** The properties that the schema of a branch declares. */
  propertiesOf: (schema: unknown, budget: StepBudget) => readonly string[];
}

/** What a keyword that applies other schemas is made of. */
export interface Applied {
  limit: unknown;
  schema: JsonObject;
  reader: Reader;
}

export interface Seen {
  names: Set<string>;
  /** Evaluated from the start of the list, and single other ones. */
  itemsBefore: number;
  items: Set<number>;
}

export function nothingSeen(): Seen {
  return { names: new Set(), itemsBefore: 0, items: new Set() };
}

export function mergeSeen(
  into: Seen | undefined,
  { names, itemsBefore, items }: Seen,
  budget: StepBudget,
): void {
  if (into === undefined) return;
  budget.spend((names.size + items.size) * costOf.entry);
  for (const name of names) into.names.add(name);
  for (const item of items) into.items.add(item);
  into.itemsBefore = Math.max(into.itemsBefore, itemsBefore);
}

/** In steps of about 10 ns, measured with the most expensive schemas and values. */
export const costOf = {
  /** Applying one schema to one value, and each of its keywords. */
  schema: 4,
  rule: 1,
  /** Visiting one item or member; more where its place has to be known. */
  member: 4,
  place: 25,
  /** Listing one name of an object; more for an object with many, which is a hash table. */
  name: 3,
  nameOfMany: 40,
  /** Adding one value to a set or a map. */
  entry: 80,
  /** Creating the text that a value in a list of allowed or unique values is compared by. */
  comparing: 60,
  /** Creating a message. */
  finding: 200,
  /** Reading a schema, and each of its keywords and their members, once. */
  readingSchema: 200,
  reading: 100,
  /** Looking for the properties that a branch declares, for each schema that there is. */
  gathering: 20,
} as const;

const manyNames = 100;

/** A name of the schema, for looking it up in values. */
export interface Name {
  name: string;
  /** Every object has it, but not as a member: `constructor`. */
  isInherited: boolean;
}

export function nameFor(name: string): Name {
  return { name, isInherited: name in Object.prototype };
}

/** The member, or undefined. */
export function memberOf(value: JsonObject, { name, isInherited }: Name): unknown {
  return isInherited && !Object.hasOwn(value, name) ? undefined : value[name];
}

/** The same where only the verdict matters. */
export function quietly(at: At): At {
  if (at.findings === undefined && at.seen === undefined) return at;
  return { ...at, findings: undefined, isThorough: false, path: '', seen: undefined };
}

/** At a member or an item. */
export function inside(at: At, token: string | number): At {
  if (at.findings === undefined && at.seen === undefined) return at;
  at.budget.spend(costOf.place);
  const path = at.findings === undefined ? '' : at.path + printPointer([String(token)]);
  return { ...at, path, seen: undefined };
}

/** Always false, so that a rule can return it. `name`: the member that the message is about. */
export function report(at: At, { keyword, message, name }: Report): false {
  if (at.findings === undefined) return false;
  at.budget.spend(costOf.finding + at.path.length);
  const pointer = name === undefined ? at.path : at.path + printPointer([name]);
  at.findings.push({ pointer, at: at.path, keyword, message: message() });
  return false;
}

interface Report {
  keyword: string;
  message: () => string;
  name?: string;
}

export function namesOf(value: JsonObject, budget: StepBudget): string[] {
  const names = Object.keys(value);
  budget.spend(names.length * (names.length < manyNames ? costOf.name : costOf.nameOfMany));
  return names;
}
