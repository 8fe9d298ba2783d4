// JSON pointers (RFC 6901): parses, prints and resolves them. Sees own properties only, so no
// pointer can reach a prototype or an array's length. Never throws.

/** The decoded tokens of a pointer; none means the whole value. Undefined: not a pointer. */
export function pointerTokens(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/u.test(pointer)) return undefined;
  return pointer.slice(1).split('/').map(unescapeToken);
}

export function printPointer(tokens: readonly string[]): string {
  let pointer = '';
  for (const token of tokens) pointer += `/${escapeToken(token)}`;
  return pointer;
}

function escapeToken(token: string): string {
  return /[~/]/u.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** Replaces "~1" first: in the other order "~01" would become "/" instead of "~1". */
export function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Undefined means that there is no value, since JSON has no undefined. */
export function valueAt(root: unknown, tokens: readonly string[]): unknown {
  let value = root;
  for (const token of tokens) {
    if (!isContainer(value) || !Object.hasOwn(value, token)) return undefined;
    // Only plain indexes: "length" is an own property of an array too.
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/u.test(token)) return undefined;
    value = value[token];
  }
  return value;
}

/** A copy of the value without what the pointer leads to, through objects only. */
export function withoutAt(value: unknown, [token, ...rest]: readonly string[]): unknown {
  if (token === undefined) return undefined;
  if (!isContainer(value) || Array.isArray(value) || !Object.hasOwn(value, token)) return value;
  const others = Object.entries(value).filter(([name]) => name !== token);
  const inside = rest.length === 0 ? [] : [[token, withoutAt(value[token], rest)] as const];
  return Object.fromEntries([...others, ...inside]);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
