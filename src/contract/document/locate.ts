// Line and column of places in a document, for people who read a warning. The file is read again
// for it, only when needed; nothing is kept while a contract runs. Never throws. A large YAML file
// takes seconds and hundreds of megabytes, once per file.
import { type State, load } from 'js-yaml';
import { readFileSync, statSync } from 'node:fs';
import { bounds } from './bounds.ts';
import { type ContractError, isList, isObject, own, yamlSchema } from './document.ts';

/** Both counted from 1; columns count characters. */
export interface Position {
  line: number;
  column: number;
}

/** The position of the pointer (`#/a/b`): its key, or the nearest existing place above it. */
export function locate(file: string, pointer: string): Position | undefined {
  return locateAll(file, [pointer]).get(pointer);
}

/** By pointer. Pointers that cannot be found are left out. */
export function locateAll(
  file: string,
  pointers: readonly string[],
): ReadonlyMap<string, Position> {
  const text = readText(file);
  if (text === undefined || pointers.length === 0) return new Map();
  const unique = [...new Set(pointers)];
  const places = unique.map(tokensOf);
  const offsets = offsetsIn(text, { file, places });
  const position = positionsIn(text);
  return new Map(
    unique.flatMap((pointer, index) => {
      const offset = offsets[index];
      return offset === undefined ? [] : [[pointer, position(offset)]];
    }),
  );
}

/** The position of the mistake that an error reports. */
export function locateError(error: ContractError): Position | undefined {
  const known = syntaxPosition(error.cause);
  if (known !== undefined || error.pointer === '#') return known;
  return locate(error.file, error.pointer);
}

/** The message with the position in front, as compilers print it: `api.yaml:3:5: Cannot …`. */
export function explainError(error: ContractError): string {
  const position = locateError(error);
  if (position === undefined) return error.message;
  // The parsers append the position too, in their own wording.
  const message = error.message.replace(/ in "[^"]*" \(\d+:\d+\)$| \(line \d+ column \d+\)$/u, '');
  return `${error.file}:${position.line}:${position.column}: ${message}`;
}

/** The position in a syntax error of the YAML or JSON parser. */
function syntaxPosition(cause: unknown): Position | undefined {
  if (!(cause instanceof Error)) return undefined;
  const mark: unknown = 'mark' in cause ? cause.mark : undefined;
  if (typeof mark === 'object' && mark !== null && 'line' in mark && 'column' in mark) {
    return { line: Number(mark.line) + 1, column: Number(mark.column) + 1 };
  }
  const [, line, column] = /\(line (\d+) column (\d+)\)/u.exec(cause.message) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

function readText(file: string): string | undefined {
  try {
    const status = statSync(file);
    if (!status.isFile() || status.size > bounds.documentBytesMax) return undefined;
    return readFileSync(file, 'utf8').replace(/^\uFEFF/u, '');
  } catch {
    return undefined; // The file is gone; the warning still has its pointer.
  }
}

interface OffsetQuery {
  file: string;
  places: readonly (readonly string[])[];
}

function offsetsIn(text: string, { file, places }: OffsetQuery): readonly (number | undefined)[] {
  try {
    return /\.json$/iu.test(file) ? jsonOffsets(text, places) : yamlOffsets(text, places);
  } catch {
    return []; // It was changed since it was loaded, or is too large to be read twice.
  }
}

/** `common.yaml#/paths/~1x` → the tokens after the `#`. */
function tokensOf(pointer: string): string[] {
  const fragment = pointer.slice(pointer.indexOf('#') + 1);
  const tokens = fragment.split('/').slice(1);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Lines end as YAML defines: LF, CRLF or CR. */
function positionsIn(text: string): (offset: number) => Position {
  const starts = [
    0,
    ...Array.from(text.matchAll(/\r\n|[\r\n]/gu), (it) => it.index + it[0].length),
  ];
  return (offset) => {
    let [line, after] = [1, starts.length + 1];
    while (line + 1 < after) {
      const middle = Math.floor((line + after) / 2);
      if ((starts[middle - 1] ?? Infinity) <= offset) line = middle;
      else after = middle;
    }
    const start = starts[line - 1] ?? 0;
    return { line, column: Array.from(text.slice(start, offset)).length + 1 };
  };
}

// Finds the offsets of keys and items in a JSON text. It descends only into the requested places,
// and relies on the text being valid JSON: the caller has parsed it before.

/** For each place, the offset of its key, or of the nearest existing place above it. */

function jsonOffsets(
  text: string,
  places: readonly (readonly string[])[],
): readonly (number | undefined)[] {
  const root: OffsetNode = { offset: skipSpace(text, 0), children: new Map() };
  for (const tokens of places) {
    let node = root;
    for (const token of tokens) {
      const next = node.children.get(token) ?? { offset: undefined, children: new Map() };
      node.children.set(token, next);
      node = next;
    }
  }
  readValue(text, 0, root);
  return places.map((tokens) => {
    let node = root;
    for (const token of tokens) {
      const next = node.children.get(token);
      if (next?.offset === undefined) break;
      node = next;
    }
    return node.offset;
  });
}

interface OffsetNode {
  offset: number | undefined;
  children: Map<string, OffsetNode>;
}

/** Records the offsets of the members on the requested paths; returns the end of the value. */
function readValue(text: string, start: number, node: OffsetNode): number {
  let at = skipSpace(text, start);
  const open = text[at];
  if (node.children.size === 0 || (open !== '{' && open !== '[')) return skipValue(text, at);
  at = skipSpace(text, at + 1);
  for (let index = 0; at < text.length && text[at] !== '}' && text[at] !== ']'; index += 1) {
    const member = at;
    let name = String(index);
    if (open === '{') {
      at = stringEnd(text, at);
      name = String(JSON.parse(text.slice(member, at)));
      at = skipSpace(text, at) + 1; // The colon.
    }
    const next = node.children.get(name);
    if (next !== undefined) forgetOffsets(next).offset = member; // The last of repeated keys counts.
    at = next === undefined ? skipValue(text, skipSpace(text, at)) : readValue(text, at, next);
    at = skipSpace(text, at);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return at + 1;
}

function forgetOffsets(node: OffsetNode): OffsetNode {
  for (const inner of node.children.values()) forgetOffsets(inner).offset = undefined;
  return node;
}

function skipValue(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== '{' && text[start] !== '[') return endOf(/[^\s,\]}]*/uy, text, start);
  let depth = 0;
  let at = start;
  do {
    const char = text[at];
    if (char === '{' || char === '[') depth += 1;
    if (char === '}' || char === ']') depth -= 1;
    at = char === '"' ? stringEnd(text, at) : at + 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function stringEnd(text: string, start: number): number {
  return endOf(/"[^"\\]*(?:\\.[^"\\]*)*"?/suy, text, start);
}

function skipSpace(text: string, start: number): number {
  return endOf(/\s*/uy, text, start);
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  pattern.test(text);
  return Math.max(pattern.lastIndex, start);
}

// Finds the offsets of keys and items in a YAML text. The parser reports where each node begins and
// ends; the parsed value identifies the node, so that its keys can be found again, even through
// aliases.

/** For each place, the offset of its key, or of the nearest existing place above it. */
export function yamlOffsets(
  text: string,
  places: readonly (readonly string[])[],
): readonly (number | undefined)[] {
  const book: OffsetRecord = { members: new Map(), merged: new Map(), left: bounds.positionsMax };
  const frames: Frame[] = [{ start: 0, children: [] }];
  const listener = (event: string, state: State): void => {
    if (event === 'open') frames.push({ start: state.position, children: [] });
    else close(frames, state, book);
  };
  const root: unknown = load(text, { schema: yamlSchema, listener });
  return places.map((tokens) => {
    const offset = offsetOf(root, tokens, book);
    return offset === undefined ? undefined : skipBlanks(text, offset);
  });
}

/** A node that was read, as the parser reports it. Keys and values are both nodes. */
interface Child {
  start: number;
  end: number;
  value: unknown;
}

interface Frame {
  start: number;
  children: Child[];
}

interface OffsetRecord {
  /** Object or list → key or index → offset. */
  members: Map<unknown, Map<string, number>>;
  /** Object → the values of its `<<`. */
  merged: Map<unknown, readonly unknown[]>;
  /** Members that may still be recorded. */
  left: number;
}

function close(frames: Frame[], state: State, book: OffsetRecord): void {
  const frame = frames.pop();
  const parent = frames.at(-1);
  if (frame === undefined || parent === undefined) return;
  const value: unknown = state.result;
  const { start, children } = frame;
  parent.children.push({ start, end: state.position, value });
  // A block is first parsed as if it were a key: then the node is reported twice, the inner one
  // first.
  if (!isList(value) && !isObject(value)) return;
  if (book.members.has(value)) return;
  const members = isList(value)
    ? itemsOf(value, children)
    : pairsOf(children, { book, value, input: state.input });
  book.left -= members.size;
  if (book.left < 0) throw new RangeError('it has too many members to locate each one');
  book.members.set(value, members);
}

/** Empty items are not nodes, so the others are identified by their values. */
function itemsOf(list: readonly unknown[], children: readonly Child[]): Map<string, number> {
  const members = new Map<string, number>();
  let next = 0;
  list.forEach((item, index) => {
    const child = children[next];
    if (child === undefined || child.value !== item) return;
    members.set(String(index), child.start);
    next += 1;
  });
  return members;
}

/** A key is a node, and the node after its colon, if there is one, is its value. */
function pairsOf(
  children: readonly Child[],
  { book, value, input }: { book: OffsetRecord; value: unknown; input: string },
): Map<string, number> {
  const members = new Map<string, number>();
  for (let at = 0; at < children.length; at += 1) {
    const key = children[at];
    if (key === undefined) break;
    const next = children[at + 1];
    const hasValue = next !== undefined && input[skipBlanks(input, key.end)] === ':';
    if (key.value === '<<' && hasValue) book.merged.set(value, [next.value].flat());
    members.set(String(key.value), key.start);
    if (hasValue) at += 1;
  }
  return members;
}

function offsetOf(
  root: unknown,
  tokens: readonly string[],
  book: OffsetRecord,
): number | undefined {
  let offset = root === undefined ? undefined : 0;
  let value = root;
  for (const token of tokens) {
    const found = memberOf(value, token, { book, depth: 0 });
    if (found === undefined) break;
    offset = found;
    if (isList(value)) value = value[Number(token)];
    else value = isObject(value) ? own(value, token) : undefined;
  }
  return offset;
}

/** A merged key is located at its origin. */
function memberOf(
  value: unknown,
  token: string,
  { book, depth }: { book: OffsetRecord; depth: number },
): number | undefined {
  const known = book.members.get(value)?.get(token);
  if (known !== undefined || depth > bounds.refHopsMax) return known;
  for (const source of book.merged.get(value) ?? []) {
    const found = memberOf(source, token, { book, depth: depth + 1 });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Skips whitespace, line ends and comments. */
function skipBlanks(text: string, start: number): number {
  const space = /\s*(?:#[^\r\n]*\s*)*/uy;
  space.lastIndex = start;
  space.test(text);
  return space.lastIndex;
}
