// JSONPath (RFC 9535), the part that overlays need: names, wildcards, indexes, lists of selectors,
// descendants, and filters that test for existence or compare one path with a literal. Anything else
// is refused by name. Every node that is visited counts as a step.
import { isList, isObject, own } from './document.ts';

export interface Steps {
  left: number;
}

/** Where a path leads: the tokens from the root. */
export type NodePath = readonly (string | number)[];

export type ParsedPath = { kind: 'path'; segments: readonly Segment[] } | Malformed;

interface Malformed {
  kind: 'malformed';
  /** Counted from 0. */
  at: number;
  expected: string;
}

interface Segment {
  isDeep: boolean;
  selectors: readonly Selector[];
}

type Selector =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'filter'; path: readonly Segment[]; test: Test | undefined };

interface Test {
  isEqual: boolean;
  literal: unknown;
}

const name = /[A-Za-z_\u{80}-\u{10FFFF}][A-Za-z0-9_\u{80}-\u{10FFFF}]*/uy;
const integer = /-?(?:0|[1-9][0-9]{0,8})(?![0-9.eE])/uy;
const string = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/uy;
const literal = /(?:true|false|null)\b|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/uy;
const blank = /[ \t\n\r]*/uy;

export function parsePath(text: string): ParsedPath {
  const reader = new Reader(text);
  try {
    if (!reader.skip('$')) reader.fail('"$" at its start');
    const segments = readSegments(reader);
    if (reader.at < text.length) reader.fail('".", "..", "[" or the end');
    return { kind: 'path', segments };
  } catch (error) {
    if (error instanceof SyntaxFailure)
      return { kind: 'malformed', at: reader.at, expected: error.message };
    throw error;
  }
}

/** In the order of the document, each place once. */
export function select(root: unknown, segments: readonly Segment[], steps: Steps): NodePath[] {
  let found: Node[] = [{ place: [], value: root }];
  for (const segment of segments) {
    found = found.flatMap((node) =>
      (segment.isDeep ? descendants(node, steps) : [node]).flatMap((one) =>
        segment.selectors.flatMap((selector) => apply(selector, one, steps)),
      ),
    );
  }
  const unique = new Map(found.map(({ place }) => [JSON.stringify(place), place]));
  return [...unique.values()];
}

export class OutOfSteps extends Error {}

class SyntaxFailure extends Error {}

class Reader {
  at = 0;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  skip(part: string): boolean {
    if (!this.text.startsWith(part, this.at)) return false;
    this.at += part.length;
    return true;
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  fail(expected: string): never {
    throw new SyntaxFailure(expected);
  }
}

function readSegments(reader: Reader): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const isDeep = reader.skip('..');
    if (reader.skip('[')) segments.push({ isDeep, selectors: readBracket(reader) });
    else if (isDeep || reader.skip('.')) segments.push({ isDeep, selectors: [readShort(reader)] });
    else return segments;
  }
}

function readShort(reader: Reader): Selector {
  if (reader.skip('*')) return { kind: 'all' };
  const found = reader.take(name) ?? reader.fail('a name or "*"; other names need [\'…\']');
  return { kind: 'name', name: found };
}

function readBracket(reader: Reader): Selector[] {
  const selectors: Selector[] = [];
  do {
    reader.take(blank);
    selectors.push(readSelector(reader));
    reader.take(blank);
  } while (reader.skip(','));
  if (!reader.skip(']')) reader.fail('"]" or ","; slices are not supported');
  return selectors;
}

function readSelector(reader: Reader): Selector {
  if (reader.skip('*')) return { kind: 'all' };
  if (reader.skip('?')) return readFilter(reader);
  const quoted = reader.take(string);
  if (quoted !== undefined) return { kind: 'name', name: unquote(quoted, reader) };
  const index = reader.take(integer) ?? reader.fail('a quoted name, an index, "*" or "?"');
  return { kind: 'index', index: Number(index) };
}

/** `?@.a`, `?@.a == 'x'`, `?(@['x-y'] != 3)`. */
function readFilter(reader: Reader): Selector {
  reader.take(blank);
  const isWrapped = reader.skip('(');
  reader.take(blank);
  if (!reader.skip('@')) reader.fail('"@"; functions, "!" and "&&" are not supported');
  const path = readSegments(reader);
  reader.take(blank);
  const isEqual = reader.skip('==');
  const test = isEqual || reader.skip('!=') ? { isEqual, literal: readLiteral(reader) } : undefined;
  reader.take(blank);
  if (isWrapped && !reader.skip(')'))
    reader.fail('")", "==" or "!="; "&&" and "||" are not supported');
  return { kind: 'filter', path, test };
}

function readLiteral(reader: Reader): unknown {
  reader.take(blank);
  const quoted = reader.take(string);
  if (quoted !== undefined) return unquote(quoted, reader);
  return JSON.parse(reader.take(literal) ?? reader.fail('a string, a number, true, false or null'));
}

function unquote(quoted: string, reader: Reader): string {
  const inside = quoted.slice(1, -1);
  const json = quoted.startsWith('"')
    ? inside
    : inside.replaceAll(/\\'|"/gu, (found) => (found === '"' ? '\\"' : "'"));
  try {
    return String(JSON.parse(`"${json}"`));
  } catch {
    return reader.fail('a string with the escapes of JSON');
  }
}

interface Node {
  place: NodePath;
  value: unknown;
}

function apply(selector: Selector, node: Node, steps: Steps): Node[] {
  if (selector.kind === 'name') {
    const value = isObject(node.value) ? own(node.value, selector.name) : undefined;
    spend(steps);
    return value === undefined ? [] : [{ place: [...node.place, selector.name], value }];
  }
  if (selector.kind === 'index') {
    const list = isList(node.value) ? node.value : [];
    const index = selector.index < 0 ? list.length + selector.index : selector.index;
    spend(steps);
    return index in list ? [{ place: [...node.place, index], value: list[index] }] : [];
  }
  const members = membersOf(node, steps);
  if (selector.kind === 'all') return members;
  return members.filter(({ value }) => filterMatches(selector, value, steps));
}

function filterMatches(
  { path, test }: Extract<Selector, { kind: 'filter' }>,
  value: unknown,
  steps: Steps,
): boolean {
  const places = select(value, path, steps);
  if (test === undefined) return places.length > 0;
  const isSame = places.some((place) => valueOf(value, place) === test.literal);
  return isSame === test.isEqual;
}

/** The value at a place that exists. */
export function valueOf(root: unknown, place: NodePath): unknown {
  let value = root;
  for (const token of place) {
    value = isList(value) ? value[Number(token)] : isObject(value) ? value[token] : undefined;
  }
  return value;
}

function membersOf({ place, value }: Node, steps: Steps): Node[] {
  const found = isList(value)
    ? value.map((one, index): Node => ({ place: [...place, index], value: one }))
    : Object.entries(isObject(value) ? value : {}).map(([key, one]): Node => ({
        place: [...place, key],
        value: one,
      }));
  spend(steps, found.length + 1);
  return found;
}

/** The node and everything below it. Not recursive: documents may be deep. */
function descendants(node: Node, steps: Steps): Node[] {
  const found: Node[] = [];
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    found.push(next);
    waiting.push(...membersOf(next, steps).toReversed());
  }
  return found;
}

function spend(steps: Steps, count = 1): void {
  steps.left -= count;
  if (steps.left < 0) throw new OutOfSteps();
}
