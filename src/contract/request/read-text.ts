// Converts the text of a parameter, in any OpenAPI style, to the type that its schema describes.
// Text that cannot be converted is a fault; whether the value is valid is decided by the schema.
import { readJson, type JsonBudget } from '../../core/base/json.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import type { Parameter } from '../model/contract.ts';
import { show, typeNames } from '../schema/explain.ts';
import type { Shape } from '../schema/shape.ts';

/** Fields of faults are JSON pointers into the value. */
export type TextReading = { kind: 'value'; value: unknown } | { kind: 'faults'; faults: Fault[] };

/** The texts of one parameter: every repetition in a query, otherwise one. */
export function readTexts(
  texts: readonly string[],
  parameter: Parameter,
  shape: Shape | undefined,
): TextReading {
  const kind = kindOf(shape);
  const { style, explode } = parameter;
  if (kind === 'list' && explode && isForm(parameter)) {
    return readList(texts.length === 1 && texts[0] === '' ? [] : texts, shape);
  }
  const [text = '', ...repeated] = texts;
  if (repeated.length > 0) return fault('', `is given ${texts.length} times, expected once`);
  if (style === 'json') return readJsonText(text);
  if (kind === 'list') {
    const items = splitList(text, parameter);
    return items.length > bounds.itemsMax ? tooMany() : readList(items, shape);
  }
  if (kind === 'object') {
    const pairs = splitPairs(text, parameter);
    return pairs.length > bounds.itemsMax / 2 ? tooMany() : readPairs(pairs, shape);
  }
  return readScalar(bare(text, parameter), shape);
}

/** `R=100&G=200` or `color[R]=100`: an object that is spread over several query parameters. */
export function readSpread(
  query: readonly (readonly [string, string])[],
  { name, style }: Parameter,
  shape: Shape,
): TextReading | undefined {
  if (style !== 'deepObject') {
    const own = query.filter(([key]) => shape.properties.includes(key));
    return own.length === 0 ? undefined : readPairs(own, shape);
  }
  const leaves = query.flatMap(([key, text]) => {
    const path = key.startsWith(`${name}[`) ? bracketsOf(key.slice(name.length)) : undefined;
    return path === undefined ? [] : [{ path, text }];
  });
  return leaves.length === 0 ? undefined : readLeaves(leaves, shape);
}

/** What to convert text to: a schema that allows a string gets the text unchanged. */
export function kindOf(shape: Shape | undefined): 'scalar' | 'list' | 'object' {
  const types = shape?.types ?? new Set();
  if (types.has('string')) return 'scalar';
  if (types.has('array')) return 'list';
  return types.has('object') ? 'object' : 'scalar';
}

export function readScalar(text: string, shape: Shape | undefined): TextReading {
  const types = shape?.types ?? new Set();
  if (types.size === 0 || types.has('string')) return { kind: 'value', value: text };
  if (types.has('boolean') && (text === 'true' || text === 'false')) {
    return { kind: 'value', value: text === 'true' };
  }
  if (types.has('null') && (text === '' || text === 'null')) return { kind: 'value', value: null };
  if ((types.has('number') || types.has('integer')) && isNumber(text)) {
    return { kind: 'value', value: Number(text) };
  }
  return fault('', `must be ${typeNames([...types])}, is ${show(text)}`);
}

/** In JSON's number syntax. An integer that is too large to be exact would silently change. */
function isNumber(text: string): boolean {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(text)) return false;
  return /[.eE]/u.test(text) ? Number.isFinite(Number(text)) : Number.isSafeInteger(Number(text));
}

function isForm({ style }: Parameter): boolean {
  return style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited';
}

export function readJsonText(text: string, budget?: JsonBudget): TextReading {
  const reading = readJson(Buffer.from(text.toWellFormed()), undefined, budget);
  return reading.kind === 'value' ? reading : fault('', reading.message);
}

/** Without the prefix of the path styles (`.x` and `;name=x`). */
function bare(text: string, { style, name }: Parameter): string {
  if (style === 'label') return text.replace(/^\./u, '');
  if (style !== 'matrix') return text;
  const rest = text.replace(/^;/u, '');
  return rest.startsWith(`${name}=`) ? rest.slice(name.length + 1) : rest;
}

const separators: Readonly<Partial<Record<Parameter['style'], string>>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
};

function splitList(text: string, parameter: Parameter): string[] {
  const { style, explode, name } = parameter;
  if (style === 'matrix' && explode) {
    const parts = text.split(';', bounds.itemsMax + 1).filter((part) => part !== '');
    return parts.map((part) => (part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part));
  }
  const inner = bare(text, parameter);
  if (inner === '') return [];
  const separator = style === 'label' && explode ? '.' : (separators[style] ?? ',');
  return inner
    .split(separator, bounds.itemsMax + 1)
    .map((part) => (parameter.in === 'header' ? part.trim() : part));
}

function splitPairs(text: string, parameter: Parameter): [string, string][] {
  const { style, explode } = parameter;
  if (explode) {
    const separator = style === 'matrix' ? ';' : style === 'label' ? '.' : ',';
    const parts = text.split(separator, bounds.itemsMax + 1).filter((part) => part !== '');
    return parts.map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    });
  }
  const parts = splitList(text, parameter);
  const pairs: [string, string][] = [];
  for (let at = 0; at < parts.length; at += 2) pairs.push([parts[at] ?? '', parts[at + 1] ?? '']);
  return pairs;
}

function readList(texts: readonly string[], shape: Shape | undefined): TextReading {
  const items = shape?.items();
  return gather(
    texts.map((text, index) => [String(index), readScalar(text, items)]),
    (entries) => entries.map(([, value]) => value),
  );
}

function readPairs(
  pairs: readonly (readonly [string, string])[],
  shape: Shape | undefined,
): TextReading {
  return readLeaves(
    pairs.map(([name, text]) => ({ path: [name], text })),
    shape,
  );
}

interface Leaf {
  path: readonly string[];
  text: string;
}

/** Builds an object from texts with paths. `fromEntries` never calls a setter of a prototype. */
function readLeaves(leaves: readonly Leaf[], shape: Shape | undefined): TextReading {
  const groups = Map.groupBy(leaves, ({ path }) => path[0] ?? '');
  const readings = [...groups].map(([name, group]): [string, TextReading] => {
    const inner = shape?.property(name);
    const inside = group.map(({ path, text }) => ({ path: path.slice(1), text }));
    if (inside.every(({ path }) => path.length > 0 && path[0] !== '')) {
      return [name, readLeaves(inside, inner)];
    }
    if (kindOf(inner) === 'list')
      return [
        name,
        readList(
          inside.map(({ text }) => text),
          inner,
        ),
      ];
    if (inside.length === 1) return [name, readScalar(inside[0]?.text ?? '', inner)];
    return [name, fault('', `is given ${inside.length} times, expected once`)];
  });
  return gather(readings, (entries) => Object.fromEntries(entries));
}

function bracketsOf(text: string): string[] | undefined {
  if (!/^(?:\[[^[\]]*\])+$/u.test(text)) return undefined;
  const path = text.slice(1, -1).split('][');
  return path.length > bounds.bracketsMax || path.includes('__proto__') ? undefined : path;
}

/** The assembled values, or all faults. */
function gather(
  readings: readonly (readonly [string, TextReading])[],
  assemble: (entries: [string, unknown][]) => unknown,
): TextReading {
  const faults = readings.flatMap(([name, reading]) =>
    reading.kind === 'value'
      ? []
      : reading.faults.map((one) => ({ ...one, field: printPointer([name]) + one.field })),
  );
  if (faults.length > 0) return { kind: 'faults', faults };
  return {
    kind: 'value',
    value: assemble(
      readings.map(([name, reading]) => [
        name,
        reading.kind === 'value' ? reading.value : undefined,
      ]),
    ),
  };
}

function tooMany(): TextReading {
  return fault('', `has more than ${bounds.itemsMax} parts`);
}

function fault(field: string, message: string): TextReading {
  return { kind: 'faults', faults: [{ field, message }] };
}
