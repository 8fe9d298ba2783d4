// What the schema of a subscribe response determines: the required properties that have only one
// value or a default. Whatever else it requires cannot be filled, and is reported.
import { isList, isObject } from '../document/document.ts';
import { child, items, text, type RefNode } from '../document/ref-node.ts';
import type { AnswerChoice, Fill } from '../model/contract.ts';
import { propertiesOf } from '../schema/shape.ts';

export interface Filling {
  /** The schema of the request body, whose properties are echoed. */
  requested: RefNode | undefined;
  /** What gets the id or the secret, as pointer tokens. */
  taken: readonly (readonly string[])[];
}

export interface FillPlan {
  choices: readonly AnswerChoice[];
  /** Required by the best choice, but not determined. */
  missing: readonly RefNode[];
}

const choicesMax = 8;
const depthMax = 6;

/** The choice that lacks least comes first. */
export function planFills(schema: RefNode | undefined, filling: Filling): FillPlan {
  if (schema === undefined) return { choices: [{ omits: [], fills: [] }], missing: [] };
  const all = [...propertiesOf(schema).keys()];
  const plans = branchesOf(schema, 0)
    .map((parts) => {
      const plan: Plan = { ...filling, fills: [], missing: [] };
      const declared = addFills(plan, parts, []);
      if (!mayBe(parts, 'object')) plan.missing.push(schema);
      return { plan, omits: all.filter((name) => !declared.has(name)) };
    })
    .toSorted((a, b) => a.plan.missing.length - b.plan.missing.length);
  return {
    choices: plans.map(({ plan, omits }) => ({ omits, fills: plan.fills })),
    missing: plans[0]?.plan.missing ?? [],
  };
}

/** The schemas that apply together, for each choice of the branches of `oneOf` and `anyOf`. */
function branchesOf(place: RefNode, depth: number): RefNode[][] {
  if (depth > depthMax) return [[place]];
  let lists: RefNode[][] = [[place]];
  const combine = (branches: readonly RefNode[][]): void => {
    if (branches.length === 0) return;
    lists = lists
      .flatMap((list) => branches.map((branch) => [...list, ...branch]))
      .slice(0, choicesMax);
  };
  for (const part of listAt(place, 'allOf')) combine(branchesOf(part, depth + 1));
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = listAt(place, keyword).slice(0, choicesMax);
    combine(branches.flatMap((branch) => branchesOf(branch, depth + 1)).slice(0, choicesMax));
  }
  return lists;
}

function listAt(place: RefNode, keyword: string): RefNode[] {
  const found = child(place, keyword);
  return found !== undefined && isList(found.value) ? items(found) : [];
}

interface Plan extends Filling {
  fills: Fill[];
  missing: RefNode[];
}

/** Adds what the object at the pointer requires; returns the names of its declared properties. */
function addFills(
  plan: Plan,
  parts: readonly RefNode[],
  pointer: readonly string[],
): ReadonlySet<string> {
  const declared = new Map<string, RefNode[]>();
  for (const part of parts) {
    const properties = child(part, 'properties');
    const { value } = properties ?? {};
    for (const name of isObject(value) ? Object.keys(value) : []) {
      const place = properties && child(properties, name);
      if (place !== undefined) declared.set(name, [...(declared.get(name) ?? []), place]);
    }
  }
  for (const part of parts) {
    const required = child(part, 'required');
    const names = required !== undefined && isList(required.value) ? required.value : [];
    for (const name of names) {
      if (typeof name !== 'string') continue;
      const places = declared.get(name);
      const isFilled = addFill(plan, [...pointer, name], places ?? []);
      if (!isFilled) plan.missing.push(places?.[0] ?? part);
    }
  }
  return new Set(declared.keys());
}

/** Whether the property will have a value. */
function addFill(plan: Plan, pointer: readonly string[], places: readonly RefNode[]): boolean {
  const name = pointer.at(-1) ?? '';
  const isTaken = plan.taken.some((one) => one.join('\0') === pointer.join('\0'));
  if (isTaken) return true;
  const constant = constantOf(places);
  if (constant !== undefined) {
    plan.fills.push({ pointer, source: constant });
    return true;
  }
  const [place, ...others] = places;
  const isObjectOnly = typesOf(places).includes('object') && pointer.length <= depthMax;
  if (place === undefined || !isObjectOnly) {
    if (propertyAt(plan.requested, pointer) !== undefined) return true;
    if (propertyAt(plan.requested, [name]) === undefined) return false;
    plan.fills.push({ pointer, source: { kind: 'field', name } });
    return true;
  }
  const [parts = []] = branchesOf(place, 0);
  const inside: Plan = { ...plan, fills: [], missing: [] };
  addFills(inside, [...parts, ...others], pointer);
  plan.fills.push({ pointer, source: { kind: 'default', value: {} } }, ...inside.fills);
  plan.missing.push(...inside.missing);
  return true;
}

/** Behind the pointer, through nested `properties`. */
export function propertyAt(
  schema: RefNode | undefined,
  pointer: readonly string[],
): RefNode | undefined {
  let place = schema;
  for (const token of pointer) place = propertiesOf(place).get(token);
  return place;
}

function constantOf(places: readonly RefNode[]): Fill['source'] | undefined {
  const parts = places.flatMap((place) => branchesOf(place, 0)[0] ?? []);
  for (const part of parts) {
    const only = child(part, 'const');
    if (only !== undefined) return { kind: 'only', value: only.value };
    const list = child(part, 'enum')?.value;
    if (isList(list) && list.length === 1) return { kind: 'only', value: list[0] };
  }
  for (const part of parts) {
    const usual = child(part, 'default');
    if (usual !== undefined) return { kind: 'default', value: usual.value };
  }
  const isNullable = parts.some((part) => child(part, 'nullable')?.value === true);
  const isNull = isNullable || typesOf(parts).includes('null');
  return isNull ? { kind: 'default', value: null } : undefined;
}

function mayBe(parts: readonly RefNode[], type: string): boolean {
  const types = typesOf(parts);
  return types.length === 0 || types.includes(type);
}

/** Empty: not declared. */
function typesOf(parts: readonly RefNode[]): string[] {
  const types = parts.flatMap((part) => {
    const type = child(part, 'type')?.value;
    if (isList(type)) return type.map(String);
    return text(part, 'type') ?? (child(part, 'properties') === undefined ? [] : 'object');
  });
  return types;
}
