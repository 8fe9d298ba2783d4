// Finds the offsets of keys and items in a JSON text. It descends only into the requested places,
// and relies on the text being valid JSON: the caller has parsed it before.

/** For each place, the offset of its key, or of the nearest existing place above it. */
export function jsonOffsets(
  text: string,
  places: readonly (readonly string[])[],
): readonly (number | undefined)[] {
  const root: Way = { offset: skipSpace(text, 0), ways: new Map() };
  for (const tokens of places) {
    let way = root;
    for (const token of tokens) {
      const next = way.ways.get(token) ?? { offset: undefined, ways: new Map() };
      way.ways.set(token, next);
      way = next;
    }
  }
  readValue(text, 0, root);
  return places.map((tokens) => {
    let way = root;
    for (const token of tokens) {
      const next = way.ways.get(token);
      if (next?.offset === undefined) break;
      way = next;
    }
    return way.offset;
  });
}

interface Way {
  offset: number | undefined;
  ways: Map<string, Way>;
}

/** Records the offsets of the members on the requested ways; returns the end of the value. */
function readValue(text: string, start: number, way: Way): number {
  let at = skipSpace(text, start);
  const open = text[at];
  if (way.ways.size === 0 || (open !== '{' && open !== '[')) return skipValue(text, at);
  at = skipSpace(text, at + 1);
  for (let index = 0; at < text.length && text[at] !== '}' && text[at] !== ']'; index += 1) {
    const member = at;
    let name = String(index);
    if (open === '{') {
      at = stringEnd(text, at);
      name = String(JSON.parse(text.slice(member, at)));
      at = skipSpace(text, at) + 1; // The colon.
    }
    const next = way.ways.get(name);
    if (next !== undefined) forget(next).offset = member; // The last of repeated keys counts.
    at = next === undefined ? skipValue(text, skipSpace(text, at)) : readValue(text, at, next);
    at = skipSpace(text, at);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return at + 1;
}

function forget(way: Way): Way {
  for (const inner of way.ways.values()) forget(inner).offset = undefined;
  return way;
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
