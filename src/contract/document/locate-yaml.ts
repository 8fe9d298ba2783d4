// Finds the offsets of keys and items in a YAML text. The parser reports where each node begins and
// ends; the parsed value identifies the node, so that its keys can be found again, even through
// aliases.
import { load } from 'js-yaml';
import type { State } from 'js-yaml';
import { bounds } from './bounds.ts';
import { isList, isObject, own, yamlSchema } from './document.ts';

/** For each place, the offset of its key, or of the nearest existing place above it. */
export function yamlOffsets(
  text: string,
  places: readonly (readonly string[])[],
): readonly (number | undefined)[] {
  const book: Book = { members: new Map(), merged: new Map(), left: bounds.positionsMax };
  const frames: Frame[] = [{ start: 0, children: [] }];
  const listener = (event: string, state: State): void => {
    if (event === 'open') frames.push({ start: state.position, children: [] });
    else close(frames, state, book);
  };
  const root: unknown = load(text, { schema: yamlSchema, listener });
  return places.map((tokens) => {
    const offset = offsetOf(root, tokens, book);
    return offset === undefined ? undefined : skipSpace(text, offset);
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

interface Book {
  /** Object or list → key or index → offset. */
  members: Map<unknown, Map<string, number>>;
  /** Object → the values of its `<<`. */
  merged: Map<unknown, readonly unknown[]>;
  /** Members that may still be recorded. */
  left: number;
}

function close(frames: Frame[], state: State, book: Book): void {
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
  { book, value, input }: { book: Book; value: unknown; input: string },
): Map<string, number> {
  const members = new Map<string, number>();
  for (let at = 0; at < children.length; at += 1) {
    const key = children[at];
    if (key === undefined) break;
    const next = children[at + 1];
    const hasValue = next !== undefined && input[skipSpace(input, key.end)] === ':';
    if (key.value === '<<' && hasValue) book.merged.set(value, [next.value].flat());
    members.set(String(key.value), key.start);
    if (hasValue) at += 1;
  }
  return members;
}

function offsetOf(root: unknown, tokens: readonly string[], book: Book): number | undefined {
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
  { book, depth }: { book: Book; depth: number },
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
function skipSpace(text: string, start: number): number {
  const space = /\s*(?:#[^\r\n]*\s*)*/uy;
  space.lastIndex = start;
  space.test(text);
  return space.lastIndex;
}
