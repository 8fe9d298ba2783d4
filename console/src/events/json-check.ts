// Validates JSON while it is typed, and reports errors independently of the browser. For valid JSON
// it maps every JSON pointer to its place in the text. Pure.
export type JsonCheck =
  | { readonly kind: 'right'; readonly places: ReadonlyMap<string, Span> }
  | { readonly kind: 'wrong'; readonly message: string; readonly at: number };

export type Span = { readonly from: number; readonly to: number };

/** The service accepts 64 levels, and the request around the payload is one of them. */
const depthMax = 63;

export function checkJson(text: string): JsonCheck {
  const places = new Map<string, Span>();
  try {
    const end = value({ text, places }, skipSpace(text, 0), { pointer: '', depth: 0 });
    const rest = skipSpace(text, end);
    if (rest < text.length) throw new JsonError(rest, 'unexpected text after the JSON value');
    return { kind: 'right', places };
  } catch (error) {
    if (error instanceof JsonError) return { kind: 'wrong', message: error.message, at: error.at };
    throw error;
  }
}

/** Both are 1-based. */
export function lineAndColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - start + 1 };
}

class JsonError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

type Input = { readonly text: string; readonly places: Map<string, Span> };
type Spot = { readonly pointer: string; readonly depth: number };

/** Parses one value and returns its end. */
function value(input: Input, at: number, spot: Spot): number {
  const { text, places } = input;
  const char = text.charAt(at);
  if (spot.depth >= depthMax && (char === '{' || char === '[')) {
    throw new JsonError(at, `nested deeper than ${depthMax} levels`);
  }
  const end =
    char === '{'
      ? members(input, at, spot)
      : char === '['
        ? items(input, at, spot)
        : char === '"'
          ? stringEnd(text, at)
          : wordEnd(text, at);
  places.set(spot.pointer, { from: at, to: end });
  return end;
}

function members(input: Input, from: number, { pointer, depth }: Spot): number {
  const { text } = input;
  let at = skipSpace(text, from + 1);
  if (text.charAt(at) === '}') return at + 1;
  for (;;) {
    if (text.charAt(at) !== '"')
      throw new JsonError(at, wanted(text, at, 'a property name in double quotes'));
    const end = stringEnd(text, at);
    const name = String(JSON.parse(text.slice(at, end)));
    const colon = skipSpace(text, end);
    if (text.charAt(colon) !== ':') throw new JsonError(colon, wanted(text, colon, '":"'));
    const inner = { pointer: `${pointer}/${escaped(name)}`, depth: depth + 1 };
    const next = skipSpace(text, value(input, skipSpace(text, colon + 1), inner));
    if (text.charAt(next) === '}') return next + 1;
    if (text.charAt(next) !== ',') throw new JsonError(next, wanted(text, next, '"," or "}"'));
    at = skipSpace(text, next + 1);
  }
}

function items(input: Input, from: number, { pointer, depth }: Spot): number {
  const { text } = input;
  let at = skipSpace(text, from + 1);
  if (text.charAt(at) === ']') return at + 1;
  for (let index = 0; ; index += 1) {
    const end = value(input, at, { pointer: `${pointer}/${index}`, depth: depth + 1 });
    const next = skipSpace(text, end);
    if (text.charAt(next) === ']') return next + 1;
    if (text.charAt(next) !== ',') throw new JsonError(next, wanted(text, next, '"," or "]"'));
    at = skipSpace(text, next + 1);
  }
}

const stringPart = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy; // oxlint-disable-line no-control-regex -- JSON forbids them.

function stringEnd(text: string, from: number): number {
  stringPart.lastIndex = from + 1;
  stringPart.test(text);
  const end = stringPart.lastIndex;
  const char = text.charAt(end);
  if (char === '"') return end + 1;
  if (char === '') throw new JsonError(from, 'the string has no closing quote');
  if (char === '\\') throw new JsonError(end, 'invalid escape sequence');
  throw new JsonError(end, 'control character in a string: write a line break as \\n');
}

const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/uy;

function wordEnd(text: string, from: number): number {
  word.lastIndex = from;
  if (!word.test(text)) throw new JsonError(from, wanted(text, from, 'a value'));
  const end = word.lastIndex;
  if (/[\w.+-]/u.test(text.charAt(end))) throw new JsonError(from, wanted(text, from, 'a value'));
  return end;
}

function wanted(text: string, at: number, what: string): string {
  const char = text.slice(at, at + 2).match(/^./u)?.[0];
  return `expected ${what}, ${char === undefined ? 'found the end of the text' : `found ${JSON.stringify(char)}`}`;
}

const space = /[ \t\r\n]*/uy;

function skipSpace(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
