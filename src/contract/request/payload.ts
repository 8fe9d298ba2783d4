// Validates event payloads against the contract. A payload must match the schema of every callback
// that the event could reach, subscribed or not, so that no invalid payload is ever delivered.
import { patternsFor } from '../../core/domain/pattern.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { Template } from '../expression/template.ts';
import type { CallbackDefinition, Contract } from '../model/contract.ts';
import type { WorkBudget } from '../schema/step-budget.ts';
import { checkWithin, type Validator } from '../schema/schema.ts';

export interface PayloadFault extends Fault {
  /** The label of a callback whose schema it violates. */
  callback: string;
}

/**
 * The faults of the payload of this event; fields are JSON pointers into it. Payloads that are checked at once share the
 * work.
 */
export function checkPayload(
  contract: Contract,
  event: string,
  payload: unknown,
  work: WorkBudget = { left: bounds.requestStepsMax },
): PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const { label, schema } of checksFor(contract, event)) {
    const found = checkWithin(schema, payload, work);
    for (const fault of found) faults.push({ ...fault, callback: label });
    if (found.length > 0 && work.left <= 0) break;
  }
  return faults;
}

/** A schema to check, and the first callback that requires it. */
interface Check {
  label: string;
  schema: Validator;
}

/**
 * Cached by event name: publishers use few names, each many times. Searching all definitions for
 * each publish made the check several times slower (bench/parts/payload.ts).
 */
const checks = new WeakMap<Contract, Map<string, readonly Check[]>>();

function checksFor(contract: Contract, event: string): readonly Check[] {
  const known = checks.get(contract) ?? new Map<string, readonly Check[]>();
  const found = known.get(event);
  if (found !== undefined) return found;
  const made = findChecks(contract, event);
  if (known.size >= bounds.eventNamesKeptMax) known.clear();
  checks.set(contract, known.set(event, made));
  return made;
}

/** Each schema once, however many callbacks refer to it. */
function findChecks(contract: Contract, event: string): Check[] {
  const found = new Map<string, Check>();
  for (const { label, payload } of matchingCallbacks(contract, event)) {
    if (payload !== undefined && !found.has(payload.place)) {
      found.set(payload.place, { label, schema: payload });
    }
  }
  return [...found.values()];
}

// Chooses the contract of an event. Events of one contract never reach the subscribers of another.

export type Choice =
  | { kind: 'chosen'; contract: Contract }
  /** The reason, as a sentence. */
  | { kind: 'none'; reason: string };

/**
 * By its title if one is given; else the only contract, or the only one with a callback that
 * matches the event.
 */
export function chooseContract(
  contracts: readonly Contract[],
  { event, title }: { event: string; title: string | undefined },
): Choice {
  const [only, ...others] = contracts;
  if (title !== undefined) {
    const named = contracts.find((contract) => contract.title === title);
    if (named !== undefined) return { kind: 'chosen', contract: named };
    return { kind: 'none', reason: `there is no contract "${title}", expected ${list(contracts)}` };
  }
  if (only !== undefined && others.length === 0) return { kind: 'chosen', contract: only };
  const able = contracts.filter((contract) => matchingCallbacks(contract, event).length > 0);
  const [first, second] = able;
  if (first !== undefined && second === undefined) return { kind: 'chosen', contract: first };
  const reason =
    first === undefined
      ? `no callback of any contract matches it; name the contract: ${list(contracts)}`
      : `callbacks of several contracts match it; name the contract: ${list(able)}`;
  return { kind: 'none', reason };
}

function list(contracts: readonly Contract[]): string {
  return contracts.map(({ title }) => JSON.stringify(title)).join(' or ');
}

// Finds the callbacks of a contract that may match an event, without visiting all of them: by the
// patterns that match the event, and by the literal text around the expressions of incomplete
// patterns.

/** In the order of the document. */
export function matchingCallbacks(
  contract: Contract,
  event: string,
): readonly CallbackDefinition[] {
  const { all, byPattern, open } = indexOf(contract);
  const patterns = patternsFor(event);
  const found = patterns.flatMap((pattern) => byPattern.get(pattern) ?? []);
  for (const { at, template } of open) {
    if (patterns.some((pattern) => canBecome(template, pattern))) found.push(at);
  }
  return found.toSorted((a, b) => a - b).flatMap((at) => all[at] ?? []);
}

/** How many definitions each event is compared with, because a subscriber completes their events. */
export function openEvents(contract: Contract): number {
  return indexOf(contract).open.length;
}

/** Every callback definition, in the order of the document. */
export function definitionsOf({ operations }: Contract): readonly CallbackDefinition[] {
  return operations.flatMap(({ role }) =>
    role.kind === 'subscribe' ? role.variants.flatMap(({ callbacks }) => callbacks) : [],
  );
}

/** Definitions by index. */
interface Index {
  all: readonly CallbackDefinition[];
  byPattern: ReadonlyMap<string, readonly number[]>;
  open: readonly { at: number; template: Template }[];
}

const indexes = new WeakMap<Contract, Index>();

function indexOf(contract: Contract): Index {
  const known = indexes.get(contract);
  if (known !== undefined) return known;
  const all = definitionsOf(contract);
  const byPattern = new Map<string, number[]>();
  const open: Index['open'][number][] = [];
  for (const [at, { event }] of all.entries()) {
    const pattern = wholeText(event);
    if (pattern === undefined) open.push({ at, template: event });
    else byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), at]);
  }
  const index = { all, byPattern, open };
  indexes.set(contract, index);
  return index;
}

/** Undefined if the template contains expressions. */
function wholeText(template: Template): string | undefined {
  const texts = template.map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** Whether some values of its expressions turn the template into this text. */
function canBecome(template: Template, text: string): boolean {
  let at = 0;
  for (const [index, part] of template.entries()) {
    if (part.kind === 'expression') continue;
    const isLast = index > 0 && index === template.length - 1;
    const from = isLast ? text.length - part.text.length : text.indexOf(part.text, at);
    const isThere = from >= at && text.startsWith(part.text, from);
    if (!isThere || (index === 0 && from > 0)) return false;
    at = from + part.text.length;
  }
  return template.at(-1)?.kind === 'expression' || at === text.length;
}
