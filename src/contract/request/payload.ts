// Validates event payloads against the contract. A payload must fit the schema of a callback that the event could reach,
// subscribed or not. Callbacks whose schema it violates are skipped, so that no invalid payload is ever delivered.
import type { SkippedCallback } from '../../core/domain/event.ts';
import { literalPattern, patternsFor } from '../../core/domain/pattern.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { Template } from '../expression/template.ts';
import type { CallbackDefinition, Contract } from '../model/contract.ts';
import type { WorkBudget } from '../schema/step-budget.ts';
import { checkWithin, type Validator } from '../schema/schema.ts';

export interface PayloadCheck {
  /** Why the payload is refused, if it is. */
  faults: readonly PayloadFault[];
  /** The callbacks whose schemas an accepted payload violates. */
  skipped: readonly SkippedCallback[];
}

export interface PayloadFault extends Fault {
  /** The label of a callback whose schema it violates. */
  callback: string;
  /** Its operation, if the label alone does not tell it. */
  operation?: string | undefined;
}

/**
 * Checks the payload of this event; fields of faults are JSON pointers into it. Payloads that are checked at once share
 * the work.
 */
export function checkPayload(
  contract: Contract,
  event: string,
  payload: unknown,
  work: WorkBudget = { left: bounds.requestStepsMax },
): PayloadCheck {
  const { schemas, isAnyFree } = checksFor(contract, event);
  const violated: Violated[] = [];
  for (const check of schemas) {
    const faults = checkWithin(check.schema, payload, work);
    if (faults.length > 0) violated.push({ ...check, faults });
    // Without the work to check it, a schema may be violated or not: the payload is refused.
    if (faults.length > 0 && work.left <= 0) return refused(violated);
  }
  if (violated.length === 0) return fits;
  if (violated.length === schemas.length && !isAnyFree) return refused(violated);
  const skipped = violated.flatMap(toSkipped);
  return skipped.length > bounds.skippedMax ? refused(violated) : { faults: [], skipped };
}

/** Why the payload fits none of these callbacks of an operation; none if it fits one of them. */
export function faultsFor(
  contract: Contract,
  { operation, definitions }: { operation: string; definitions: readonly string[] },
  payload: unknown,
): readonly PayloadFault[] {
  const own = definitionsOf(contract).filter(
    (one) => one.operation === operation && definitions.includes(one.id),
  );
  const { schemas, isAnyFree } = findChecks(own);
  const work = { left: bounds.requestStepsMax };
  const violated = schemas.flatMap((check): Violated[] => {
    const faults = checkWithin(check.schema, payload, work);
    return faults.length === 0 ? [] : [{ ...check, faults }];
  });
  if (isAnyFree || violated.length < schemas.length) return [];
  return refused(violated).faults.map((fault) => ({ ...fault, operation }));
}

const fits: PayloadCheck = { faults: [], skipped: [] };

interface Violated extends SchemaCheck {
  faults: readonly Fault[];
}

/** Says something of every schema, even if a report has room for a few faults only. */
function refused(violated: readonly Violated[]): PayloadCheck {
  const each = Math.max(1, Math.floor(bounds.faultsMax / violated.length));
  const labels = new Set(violated.map((one) => firstOf(one)?.label));
  const faults = violated.flatMap((one) => {
    const { label: callback = '', operation } = firstOf(one) ?? {};
    const more = labels.size < violated.length ? { operation } : {};
    return one.faults.slice(0, each).map((fault) => ({ ...fault, callback, ...more }));
  });
  return { faults, skipped: [] };
}

function firstOf({ definitions }: SchemaCheck): CallbackDefinition | undefined {
  return definitions.values().next().value;
}

function toSkipped({ faults: [fault], definitions }: Violated): SkippedCallback[] {
  const reason = `${fault?.field} ${fault?.message}`.trim().slice(0, bounds.skipReasonCharsMax);
  return [...definitions.values()].map(({ operation, id }) => ({
    operation,
    definition: id,
    reason,
  }));
}

/** A schema to check, and the callbacks that require it. */
interface SchemaCheck {
  schema: Validator;
  /** By operation and id, because several variants of an operation may have the same callback. */
  definitions: Map<string, CallbackDefinition>;
}

interface Checks {
  schemas: readonly SchemaCheck[];
  /** Whether a callback with a body accepts any payload, because it declares no schema. */
  isAnyFree: boolean;
}

/**
 * Cached by event name: publishers use few names, each many times. Searching all definitions for
 * each publish made the check several times slower (bench/parts/payload.ts).
 */
const checks = new WeakMap<Contract, Map<string, Checks>>();

function checksFor(contract: Contract, event: string): Checks {
  const known = checks.get(contract) ?? new Map<string, Checks>();
  const found = known.get(event);
  if (found !== undefined) return found;
  const made = findChecks(matchingCallbacks(contract, event));
  if (known.size >= bounds.eventNamesKeptMax) known.clear();
  checks.set(contract, known.set(event, made));
  return made;
}

/** Each schema once, however many callbacks refer to it. */
function findChecks(definitions: readonly CallbackDefinition[]): Checks {
  const found = new Map<string, SchemaCheck>();
  for (const definition of definitions) {
    const { operation, id, payload } = definition;
    if (payload === undefined) continue;
    const check = found.get(payload.place) ?? { schema: payload, definitions: new Map() };
    check.definitions.set(JSON.stringify([operation, id]), definition);
    found.set(payload.place, check);
  }
  return { schemas: [...found.values()], isAnyFree: definitions.some(isFree) };
}

function isFree({ payload, mediaType }: CallbackDefinition): boolean {
  return payload === undefined && mediaType !== undefined;
}

// Chooses the contract of an event. Events of one contract never reach the subscribers of another.

export type Choice =
  | { kind: 'chosen'; contract: Contract }
  /** The reason, as a sentence. */
  | { kind: 'none'; reason: string };

interface EventAddress {
  event: string;
  title: string | undefined;
  /** Ringback's own contract, whose callbacks match every event: of webhooks, and those that no other one has. */
  builtIn?: Contract | undefined;
}

/**
 * By its title if one is given; else the only contract, or the only one with a callback that
 * matches the event.
 */
export function chooseContract(
  contracts: readonly Contract[],
  { event, title, builtIn }: EventAddress,
): Choice {
  const [only, ...others] = contracts;
  const isAble = (contract: Contract): boolean => matchingCallbacks(contract, event).length > 0;
  if (title !== undefined) {
    const named = contracts.find((contract) => contract.title === title);
    if (named === undefined) {
      const reason = `there is no contract "${title}", expected ${list(contracts)}`;
      return { kind: 'none', reason };
    }
    const isOfWebhook = builtIn !== undefined && hasWebhook(named, event) && !isAble(named);
    return { kind: 'chosen', contract: isOfWebhook ? builtIn : named };
  }
  if (only !== undefined && others.length === 0) return { kind: 'chosen', contract: only };
  const able = contracts.filter((contract) => contract !== builtIn && isAble(contract));
  const isOfWebhook = contracts.some((contract) => hasWebhook(contract, event));
  if (builtIn !== undefined && (isOfWebhook || able.length === 0)) able.push(builtIn);
  const [first, second] = able;
  if (first !== undefined && second === undefined) return { kind: 'chosen', contract: first };
  const reason =
    first === undefined
      ? `no callback of any contract matches it; name the contract: ${list(contracts)}`
      : `callbacks of several contracts match it; name the contract: ${list(able)}`;
  return { kind: 'none', reason };
}

function hasWebhook(contract: Contract, event: string): boolean {
  return indexOf(contract).webhooks.has(event);
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

/** Whether a callback of one of the contracts is for events of exactly this name. */
export function isEventOf(contracts: readonly Contract[], event: string): boolean {
  return contracts.some((contract) => indexOf(contract).byPattern.has(literalPattern(event)));
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
  /** Their events. */
  webhooks: ReadonlySet<string>;
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
  const webhooks = new Set(contract.webhooks.map(({ event }) => event));
  const index = { all, byPattern, open, webhooks };
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
