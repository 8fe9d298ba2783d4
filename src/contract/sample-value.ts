// Makes one value for a schema by what the document says there: its examples first, then something
// simple of the right kind. It judges nothing: whether the value fits, the validator says.
import { printPointer } from '../core/pointer.ts';
import { bounds } from './bounds.ts';
import { isList, own } from './document.ts';
import type { JsonObject } from './document.ts';
import { examplesIn } from './examples.ts';
import { numbersFor } from './sample-number.ts';
import { makeObject } from './sample-object.ts';
import {
  decide,
  leadsBack,
  least,
  most,
  numbers,
  partsOf,
  texts,
  valuesOf,
} from './sample-parts.ts';
import type { Making, Means, Spot } from './sample-parts.ts';
import { textsFor } from './sample-text.ts';
import { typeOf } from './shape.ts';

/** Undefined: there is no value, or making one leads in circles. */
export function makeValue(schemas: readonly unknown[], spot: Spot, making: Making): unknown {
  making.left -= 1;
  if (spot.depth > bounds.sampleDepthMax) return undefined;
  const parts = partsOf(schemas, spot, making);
  if (parts.isImpossible) return undefined;
  const types = typesOf(parts.schemas);
  const { given, isComplete } = givenValues(parts.schemas, { types, spot });
  const count = given.length + (isComplete ? 0 : 1);
  const chosen = decide(making, { pointer: spot.pointer, about: 'value' }, count);
  const index = spot.variant === 0 ? chosen : (chosen + spot.variant) % Math.max(1, count);
  if (index < given.length) return given[index];
  const type = types[decide(making, { pointer: spot.pointer, about: 'type' }, types.length)];
  const inside = { ...spot, trail: [...spot.trail, ...parts.names], preferred: [] };
  return makeOf(type ?? guessType(parts.schemas, spot), { parts, spot: inside, making });
}

function makeOf(type: string, means: Means): unknown {
  switch (type) {
    case 'object':
      return makeObject(means, makeValue);
    case 'array':
      return makeArray(means);
    case 'string':
      return makeText(means);
    case 'integer':
    case 'number':
      return makeNumber(means, type);
    case 'boolean':
      return means.spot.variant % 2 === 0;
    default:
      return null;
  }
}

/** What the document itself offers. Complete: nothing else is allowed. */
function givenValues(
  schemas: readonly JsonObject[],
  { types, spot }: { types: readonly string[]; spot: Spot },
): { given: unknown[]; isComplete: boolean } {
  const enums = schemas.flatMap((schema) => {
    const values = own(schema, 'enum');
    const constants = Object.hasOwn(schema, 'const') ? [[schema['const']]] : [];
    return [...(isList(values) ? [values] : []), ...constants];
  });
  const offered = [
    ...spot.preferred,
    ...schemas.flatMap(examplesIn),
    ...schemas.flatMap((schema) => [own(schema, 'default')].filter((one) => one !== undefined)),
    ...(enums[0] ?? []),
  ];
  const kinds = new Set(types);
  const allowed = offered.filter(
    (value) =>
      (kinds.size === 0 || kinds.has(typeOf(value)) || (kinds.has('integer') && isWhole(value))) &&
      enums.every((values) => values.some((one) => isSame(one, value))),
  );
  const unique = allowed.filter(
    (value, index) => allowed.findIndex((one) => isSame(one, value)) === index,
  );
  return { given: unique.slice(0, bounds.sampleOptionsMax), isComplete: enums.length > 0 };
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The types that all schemas allow; null last. None: no schema says. */
function typesOf(schemas: readonly JsonObject[]): string[] {
  const declared = schemas.map((schema) => [own(schema, 'type') ?? []].flat().map(String));
  const [first = [], ...others] = declared.filter((types) => types.length > 0);
  const common = others.reduce(
    (left, types) => left.flatMap((type) => meet(type, types)),
    [...first],
  );
  return common.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
}

function meet(type: string, types: readonly string[]): string[] {
  if (types.includes(type)) return [type];
  if (type === 'number' && types.includes('integer')) return ['integer'];
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

function makeText({ parts: { schemas }, spot, making }: Means): unknown {
  const options = textsFor(
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

function makeNumber({ parts: { schemas }, spot, making }: Means, type: string): unknown {
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

function makeArray(means: Means): unknown {
  const { parts, spot, making } = means;
  const { schemas } = parts;
  const prefixes = valuesOf(schemas, 'prefixItems').filter(isList);
  const contained = valuesOf(schemas, 'contains');
  const containedCount = contained.length > 0 ? Math.max(1, least(schemas, 'minContains')) : 0;
  const count = countItems(means, { prefixes, containedCount });
  const mustDiffer = valuesOf(schemas, 'uniqueItems').includes(true);
  const made: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const prefix = prefixes.flatMap((list) => (index < list.length ? [list[index]] : []));
    const rest = schemas.flatMap((schema) => restItems(schema, index));
    const there: Spot = {
      ...spot,
      pointer: spot.pointer + printPointer([String(index)]),
      name: singular(spot.name),
      depth: spot.depth + 1,
      variant: mustDiffer ? spot.variant + index : spot.variant,
    };
    const more = index < containedCount ? contained : [];
    const value = makeValue([...prefix, ...rest, ...more], there, making);
    if (value === undefined) break;
    made.push(value);
  }
  return made;
}

/** One item shows more than none, but a list in a circle, or a long example, must end. */
function countItems(
  { parts: { schemas }, spot, making }: Means,
  {
    prefixes,
    containedCount,
  }: { prefixes: readonly (readonly unknown[])[]; containedCount: number },
): number {
  const fewest = Math.max(least(schemas, 'minItems'), containedCount);
  const largest = Math.min(most(schemas, 'maxItems'), bounds.sampleValuesMax);
  const isCircle = valuesOf(schemas, 'items').some((schema) => leadsBack(schema, spot.trail));
  const usual = isCircle || making.left <= 0 ? 0 : Math.max(1, ...prefixes.map((p) => p.length));
  const counts = [usual, fewest, fewest + 1].map((count) =>
    Math.min(Math.max(count, fewest), largest),
  );
  const options = [...new Set(counts)];
  const about = { pointer: spot.pointer, about: 'items' };
  return options[decide(making, about, options.length)] ?? 0;
}

/** `items` speaks about what `prefixItems` beside it does not. */
function restItems(schema: JsonObject, index: number): unknown[] {
  const prefix = own(schema, 'prefixItems');
  const items = own(schema, 'items');
  if (items === undefined || (isList(prefix) && index < prefix.length)) return [];
  return [items];
}

/** `urls` holds values that are each called `url`. */
function singular(name: string): string {
  return name.replace(/s$/u, '');
}
