// An example value for a schema: from the document, otherwise the simplest value that may be valid.
import { isObject, own } from '../../contract/document/document.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import { bounds } from './bounds.ts';
import { factsOf, otherNames } from './schema.ts';
import type { Property, SchemaFacts } from './schema.ts';
import { excerpt } from './value.ts';
import { entriesOf, objectAt } from './written.ts';

/** Decides what is hidden (`readOnly`, `writeOnly`), and that a response may contain null. */
export type Direction = 'request' | 'response';

export const sampleUrl = 'https://receiver.example/hook';

/** Examples next to a schema: of a media type, a parameter or a header. */
export function examplesBeside(root: JsonObject, holder: JsonObject): unknown[] {
  const one = own(holder, 'example');
  const named = entriesOf(objectAt(root, holder['examples'])).map(([, example]) => {
    const { value, dataValue } = objectAt(root, example);
    return value ?? dataValue;
  });
  return [one, ...named].filter((value) => value !== undefined).map(excerpt);
}

export function sampleOf(root: JsonObject, schema: unknown, direction: Direction): unknown {
  const making: Making = { root, direction, depth: 0, trail: [], meter: { left: 0 } };
  making.meter.left = bounds.sampleValuesMax;
  return make(schema, making);
}

/** The value given by the document, without inventing one. */
export function givenSample({ examples, default: preset, values }: SchemaFacts): unknown {
  return [...examples, preset, ...values].find((value) => value !== undefined);
}

interface Making {
  root: JsonObject;
  direction: Direction;
  depth: number;
  trail: readonly string[];
  meter: { left: number };
}

function make(schema: unknown, making: Making): unknown {
  const { root, depth, trail, meter } = making;
  meter.left -= 1;
  if (meter.left < 0) return undefined;
  const facts = factsOf(root, schema);
  const given = givenSample(facts);
  if (given !== undefined) return excerpt(given);
  const isCircle = facts.refs.some((ref) => trail.includes(ref));
  if (isCircle || depth >= bounds.sampleDepthMax) return undefined;
  const deeper = { ...making, depth: depth + 1, trail: [...trail, ...facts.refs] };
  const branch = facts.branches[0]?.schemas[0];
  if (facts.properties.length > 0) {
    const object = makeObject(facts.properties, deeper);
    const more = branch === undefined ? undefined : make(branch, deeper);
    return isObject(more) ? { ...object, ...more } : object;
  }
  if (branch !== undefined) return make(branch, deeper);
  if (facts.type.startsWith('array')) {
    const item = facts.items === undefined ? undefined : make(facts.items, deeper);
    return item === undefined ? [] : [item];
  }
  if (making.direction === 'response' && facts.type === 'string or null') return null;
  return makeScalar(facts);
}

function makeObject(properties: readonly Property[], making: Making): Record<string, unknown> {
  const { direction, root } = making;
  const hiddenMark = direction === 'request' ? 'readOnly' : 'writeOnly';
  const needed = properties.filter(({ isRequired }) => isRequired);
  const shown = (needed.length > 0 ? needed : properties)
    .slice(0, bounds.sampleValuesMax)
    .filter(
      ({ name, schema }) =>
        objectAt(root, schema)[hiddenMark] !== true && !name.startsWith('/') && name !== otherNames,
    );
  const entries = shown.map(({ name, schema }) => {
    const value = make(schema, making);
    return [name, value === 'string' && /ur[il]$/iu.test(name) ? sampleUrl : value] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function makeScalar({ type, limits }: SchemaFacts): unknown {
  const known = formats.find(([format]) => type.includes(`(${format})`));
  if (known !== undefined) return known[1];
  if (/^(?:integer|number)/u.test(type)) return Number(/-?\d+/u.exec(limits.join(' '))?.[0] ?? 1);
  if (type.startsWith('boolean')) return true;
  if (type.startsWith('object')) return {};
  if (type.startsWith('null')) return null;
  return type.startsWith('string') ? 'string' : undefined;
}

const formats: readonly (readonly [string, string])[] = [
  ['uri', sampleUrl],
  ['url', sampleUrl],
  ['uri-reference', '/path'],
  ['date-time', '2030-01-31T12:00:00Z'],
  ['date', '2030-01-31'],
  ['time', '12:00:00Z'],
  ['email', 'someone@receiver.example'],
  ['uuid', '7f9c2ba4-e88f-4a27-8c5e-2d1f3b6a9e10'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['hostname', 'receiver.example'],
  ['byte', 'UmluZ2JhY2s='],
];
