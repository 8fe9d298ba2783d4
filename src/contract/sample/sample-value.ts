// Makes one value for a schema: the examples of the document first, then a simple value of the right type. It does not
// validate; the validator decides whether the value is accepted.
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import { isList } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { examplesIn } from '../schema/examples.ts';
import { pay } from '../schema/meter.ts';
import {
  decide,
  leadsBack,
  least,
  listOf,
  most,
  numbers,
  partsOf,
  texts,
  valuesOf,
} from './sample-parts.ts';
import type { Making, Deps, Spot } from './sample-parts.ts';
import { makeObject } from './sample-object.ts';
import { numbersFor } from './sample-text.ts';
import { typeOf } from '../schema/shape.ts';

/** Undefined: there is no value, or the schemas form a cycle. */
export function makeValue(schemas: readonly unknown[], spot: Spot, making: Making): unknown {
  making.values += 1;
  if (spot.depth > bounds.sampleDepthMax || making.values > bounds.sampleValuesAllMax) {
    return undefined;
  }
  const parts = partsOf(schemas, spot, making);
  if (parts.isImpossible) return undefined;
  const types = typesOf(parts.schemas);
  const { given, isComplete } = givenValues({ parts, spot, making }, types);
  const count = given.length + (isComplete ? 0 : 1);
  const chosen = decide(making, { pointer: spot.pointer, about: 'value' }, count);
  const index = spot.variant === 0 ? chosen : (chosen + spot.variant) % Math.max(1, count);
  if (index < given.length) return given[index];
  const type = types[decide(making, { pointer: spot.pointer, about: 'type' }, types.length)];
  const inside = { ...spot, trail: [...spot.trail, ...parts.names], mark: undefined };
  return makeOf(type ?? guessType(parts.schemas, spot), { parts, spot: inside, making });
}

function makeOf(type: string, deps: Deps): unknown {
  switch (type) {
    case 'object':
      return makeObject(deps, makeValue);
    case 'array':
      return makeArray(deps);
    case 'string':
      return makeText(deps);
    case 'integer':
    case 'number':
      return makeNumber(deps, type);
    case 'boolean':
      return deps.spot.variant % 2 === 0;
    default:
      return null;
  }
}

/** Values that the document offers. Complete: no others are allowed. */
function givenValues(
  { parts: { schemas }, spot, making }: Deps,
  types: readonly string[],
): { given: unknown[]; isComplete: boolean } {
  const enums = schemas.flatMap((schema) => [
    ...valuesOf([schema], 'enum').filter(isList),
    ...(Object.hasOwn(schema, 'const') ? [[schema['const']]] : []),
  ]);
  const offered = [
    ...[spot.mark].filter((value) => value !== undefined),
    ...schemas.flatMap(examplesIn),
    ...valuesOf(schemas, 'default'),
    ...(enums[0] ?? []),
  ];
  const given = new Map<string, unknown>();
  for (const value of offered) {
    pay(making.work, bounds.sampleStepsEach);
    if (types.length > 0 && meet(typeOf(value), types, value).length === 0) continue;
    const text = JSON.stringify(value);
    pay(making.work, text.length + enums.reduce((sum, one) => sum + one.length, 0) * 10);
    const isAllowed = enums.every((values) =>
      values.some((one) => one === value || (isNested(value) && JSON.stringify(one) === text)),
    );
    if (isAllowed) given.set(text, value);
    if (given.size === bounds.sampleOptionsMax) break;
  }
  return { given: [...given.values()], isComplete: enums.length > 0 };
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The types that all schemas allow, null last. Empty: no schema declares a type. */
function typesOf(schemas: readonly JsonObject[]): string[] {
  const [first = [], ...others] = valuesOf(schemas, 'type').map((one) => [one].flat().map(String));
  const common = others.reduce(
    (left, types) => left.flatMap((type) => meet(type, types)),
    [...first],
  );
  return common.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
}

/** The common types of `type` and `types`. The type of a given `value` is `number`, even if it is an integer. */
function meet(type: string, types: readonly string[], value?: unknown): string[] {
  if (types.includes(type)) return [type];
  const isWhole = value === undefined || Number.isInteger(value);
  if (type === 'number' && types.includes('integer') && isWhole) return ['integer'];
  return type === 'integer' && types.includes('number') ? [type] : [];
}

const signs: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties']],
  ['object', ['patternProperties', 'propertyNames', 'maxProperties', 'dependentRequired']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['format', 'pattern', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function guessType(schemas: readonly JsonObject[], { depth }: Spot): string {
  const has = (keyword: string): boolean => schemas.some((one) => Object.hasOwn(one, keyword));
  const found = signs.find(([, keywords]) => keywords.some(has));
  return found?.[0] ?? (depth === 0 ? 'object' : 'string');
}

function makeText({ parts: { schemas }, spot, making }: Deps): unknown {
  const options = making.texts.textsFor(
    {
      formats: texts(schemas, 'format'),
      patterns: texts(schemas, 'pattern'),
      minLength: least(schemas, 'minLength'),
      maxLength: most(schemas, 'maxLength'),
      name: spot.name,
    },
    spot.variant,
  );
  return options[decide(making, { pointer: spot.pointer, about: 'text' }, options.length)];
}

function makeNumber({ parts: { schemas }, spot, making }: Deps, type: string): unknown {
  const options = numbersFor(
    {
      isInteger: type === 'integer' || texts(schemas, 'format').some((it) => /^u?int/u.test(it)),
      minimum: Math.max(-Infinity, ...numbers(schemas, 'minimum')),
      maximum: most(schemas, 'maximum'),
      exclusiveMinimum: Math.max(-Infinity, ...numbers(schemas, 'exclusiveMinimum')),
      exclusiveMaximum: most(schemas, 'exclusiveMaximum'),
      factors: numbers(schemas, 'multipleOf'),
    },
    spot.variant,
  );
  return options[decide(making, { pointer: spot.pointer, about: 'number' }, options.length)];
}

function makeArray(deps: Deps): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const contained = valuesOf(schemas, 'contains');
  const containedCount = contained.length > 0 ? Math.max(1, least(schemas, 'minContains')) : 0;
  const count = countItems(deps, containedCount);
  const mustDiffer = valuesOf(schemas, 'uniqueItems').includes(true);
  const made: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const there: Spot = {
      ...spot,
      pointer: spot.pointer + printPointer([String(index)]),
      // The items of `urls` get the hint `url`.
      name: spot.name.replace(/s$/u, ''),
      depth: spot.depth + 1,
      variant: mustDiffer ? spot.variant + index : spot.variant,
    };
    const all = schemas.flatMap((schema) => itemSchemas(schema, index));
    const value = makeValue([...all, ...(index < containedCount ? contained : [])], there, making);
    if (value === undefined) break;
    made.push(value);
  }
  return made;
}

/** One item shows more than none, but a cyclic list, or a long example, must end. */
function countItems({ parts: { schemas }, spot, making }: Deps, containedCount: number): number {
  const fewest = Math.max(least(schemas, 'minItems'), containedCount);
  const largest = Math.min(most(schemas, 'maxItems'), bounds.sampleValuesAllMax);
  const isCircle = valuesOf(schemas, 'items').some((one) => leadsBack(one, spot, making));
  const prefixes = schemas.map((schema) => listOf(schema, 'prefixItems').length);
  const isNone = isCircle || making.values > bounds.sampleValuesMax;
  const usual = isNone ? 0 : Math.max(1, ...prefixes);
  const options = [usual, fewest, fewest + 1].map((one) =>
    Math.min(Math.max(one, fewest), largest),
  );
  const unique = [...new Set(options)];
  return unique[decide(making, { pointer: spot.pointer, about: 'items' }, unique.length)] ?? 0;
}

/** `items` applies to the items that `prefixItems` in the same schema does not cover. */
function itemSchemas(schema: JsonObject, index: number): unknown[] {
  const prefix = listOf(schema, 'prefixItems');
  if (index < prefix.length) return [prefix[index]];
  return valuesOf([schema], 'items');
}
