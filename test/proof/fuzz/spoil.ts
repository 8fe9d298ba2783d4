// Breaks one rule of a schema at one location of a valid value, and names the rule. The change is only used if the
// fuzzer's own validator agrees that the value is now invalid.
import type { Chance } from '../sim/chance.ts';
import type { Document, Parameter, Schema } from './document.ts';
import { flatten, isObject, misfits } from './schema-errors.ts';

export interface Spoiled<T> {
  value: T;
  /** The broken rule and its location. */
  rule: string;
}

type Path = readonly (string | number)[];

interface DocumentLocation {
  path: Path;
  parts: readonly Schema[];
  value: unknown;
}

const triesMax = 12;

export function spoilBody(
  document: Document,
  chance: Chance,
  { schema, value }: { schema: Schema; value: unknown },
): Spoiled<unknown> | undefined {
  const places = placesIn(document, { path: [], parts: partsOf(document, schema, value), value });
  for (let turn = 0; turn < triesMax; turn += 1) {
    const place = chance.pick(places);
    const [name, spoiled] = spoilLocation(chance, place);
    const whole = replaced(value, place.path, spoiled);
    if (misfits(document, schema, whole).length === 0) continue;
    return { value: whole, rule: `${name} at body#/${place.path.join('/')}` };
  }
  return undefined;
}

/** Includes the branch of oneOf that matches the value. */
function partsOf(document: Document, schema: Schema, value: unknown): Schema[] {
  return flatten(document, schema).flatMap((part) => {
    const branch = part.oneOf?.find((one) => misfits(document, one, value).length === 0);
    return branch === undefined ? [part] : [part, ...flatten(document, branch)];
  });
}

function placesIn(document: Document, place: DocumentLocation): DocumentLocation[] {
  const { path, parts, value } = place;
  if (isObject(value)) {
    const inner = Object.entries(value).flatMap(([name, member]) => {
      const schemas = parts.flatMap(({ properties = {}, additionalProperties: others }) => {
        const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
        return own ?? (typeof others === 'object' ? others : []);
      });
      if (schemas.length === 0) return [];
      const own = schemas.flatMap((schema) => partsOf(document, schema, member));
      return placesIn(document, { path: [...path, name], parts: own, value: member });
    });
    return [place, ...inner];
  }
  if (!Array.isArray(value)) return [place];
  const items = parts.find((part) => part.items !== undefined)?.items;
  if (items === undefined) return [place];
  const inner = value.slice(0, 3).flatMap((item: unknown, i) => {
    const own = partsOf(document, items, item);
    return placesIn(document, { path: [...path, i], parts: own, value: item });
  });
  return [place, ...inner];
}

/** Marks a member to remove. */
const gone = Symbol('gone');

function spoilLocation(chance: Chance, { parts, value }: DocumentLocation): [string, unknown] {
  const ways: [string, unknown][] = [
    ['null', null],
    ['missing', gone],
    ['another type', chance.pick([17, 'text', true, [], {}, [[]], { a: 1 }])],
    ['the value in a list', [value]],
    ['an additional member', isObject(value) ? { ...value, additional: 1 } : 'x'],
    ['an empty object', {}],
    ['nothing in it', Array.isArray(value) ? [] : ''],
  ];
  for (const { enum: allowed, format, pattern, maxLength, ...rest } of parts) {
    if (allowed !== undefined) ways.push(['not in enum', chance.pick(['', 'zzz', 'ACTIVE', 0])]);
    if (format === 'uri')
      ways.push(['no uri', chance.pick(['', 'not a uri', '//x/y', 'http://', 'x'])]);
    if (format === 'date-time') ways.push(['no time', chance.pick(badTimes)]);
    if (pattern !== undefined)
      ways.push(['against the pattern', chance.pick(['', '!', 'a..b', ' ', '\n'])]);
    if (maxLength !== undefined) ways.push(['too long', 'x'.repeat(maxLength + 1)]);
    const { minimum, maximum, maxItems, maxProperties, required = [] } = rest;
    if (minimum !== undefined) ways.push(['too small', minimum - 1]);
    if (maximum !== undefined) ways.push(['too large', maximum + 1]);
    if (maxItems !== undefined && Array.isArray(value)) {
      const [item = 'x'] = value as readonly unknown[];
      ways.push(['too many', Array(maxItems + 1).fill(item)]);
    }
    if (maxProperties !== undefined) ways.push(['too many members', members(maxProperties + 1)]);
    for (const name of isObject(value) ? required : []) {
      ways.push([
        `without ${name}`,
        Object.fromEntries(Object.entries(value as object).filter(([each]) => each !== name)),
      ]);
    }
  }
  return chance.pick(ways);
}

const badTimes = [
  '',
  'yesterday',
  '2026-01-01',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01 00:00',
  '2026-01-01T00:00:00',
  '1767225600',
];

function members(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_none, i) => [`k${i}`, 'v']));
}

function replaced(whole: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value === gone ? undefined : value;
  const isLeft = rest.length === 0 && value === gone;
  if (Array.isArray(whole)) {
    const items = whole as readonly unknown[];
    return items.flatMap((item, i) => {
      if (i !== step) return [item];
      return isLeft ? [] : [replaced(item, rest, value)];
    });
  }
  const entries = Object.entries(whole as object).flatMap(([name, member]: [string, unknown]) => {
    if (name !== step) return [[name, member] as const];
    return isLeft ? [] : [[name, replaced(member, rest, value)] as const];
  });
  return Object.fromEntries(entries);
}

/** An invalid parameter: `value` lists its texts, and is empty if the parameter is omitted. */
export function spoilParameter(
  chance: Chance,
  { name, schema, required, in: place }: Parameter,
): Spoiled<readonly string[]> | undefined {
  const ways: [string, string[]][] = [];
  if (required === true && place === 'query') ways.push(['missing', []]);
  const isSpread = schema.type === 'array' || schema.type === 'object';
  if (place === 'query' && !isSpread) ways.push(['twice', ['a', 'b']]);
  if (schema.type === 'integer') {
    // A header cannot carry the last one.
    const texts = ['', 'abc', '1.5', '0x10', ...(place === 'header' ? [] : ['１'])];
    ways.push(['no integer', [chance.pick(texts)]]);
    ways.push(
      ['too small', [`${(schema.minimum ?? 0) - 1}`]],
      ['too large', [`${(schema.maximum ?? 0) + 1}`]],
    );
    ways.push(['far too large', [chance.pick(['1e400', '99999999999999999999', '-1'])]]);
  }
  if (schema.enum !== undefined) ways.push(['not in enum', [chance.pick(['', 'zzz', 'DEAD'])]]);
  if (schema.format === 'date-time') ways.push(['no time', [chance.pick(badTimes)]]);
  if (schema.format === 'uri') ways.push(['no uri', [chance.pick(['', 'not a uri', '//x/y'])]]);
  const pattern = new RegExp(schema.pattern ?? '', 'u');
  const unfit = ['', '!', 'a..b', ' ', '\n'].filter((text) => !pattern.test(text));
  if (unfit.length > 0) ways.push(['against the pattern', [chance.pick(unfit)]]);
  if (schema.maxLength !== undefined) ways.push(['too long', ['x'.repeat(schema.maxLength + 1)]]);
  if (schema.minLength !== undefined && place === 'query') ways.push(['empty', ['']]);
  if (schema.maxItems !== undefined)
    ways.push([
      'too many',
      [
        Array(schema.maxItems + 1)
          .fill('x')
          .join(','),
      ],
    ]);
  if (ways.length === 0) return undefined;
  const [rule, value] = chance.pick(ways);
  return { value, rule: `${rule} at ${place}.${name}` };
}
