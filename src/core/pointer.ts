// JSON pointers (RFC 6901): text to tokens and back, and what stands there. Sees own properties only, so
// no text can reach a prototype or an array's length. Never throws.

/** The tokens of a pointer, decoded; none means the whole value. Undefined: it is no pointer. */
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

/** "~1" first: the other way round "~01" would become "/" instead of "~1". */
export function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Undefined: there is nothing, which JSON cannot say otherwise. */
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

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
