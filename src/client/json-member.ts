// The text of one member of a JSON object, as it was sent. `JSON.parse` rounds integers beyond 2^53 and loses how
// numbers and strings were written; this does not. Pure.

/** `json` is the text of a valid object. Undefined if it has no such member. */
export function memberText(json: string, name: string): string | undefined {
  let at = json.indexOf('{') + 1;
  let found: string | undefined;
  while (at < json.length) {
    const key = token(json, at);
    if (json[key.begin] !== '"') return found; // The end of the object.
    const colon = token(json, key.end);
    const value = valueAt(json, colon.end);
    // If the name is repeated, the last one counts, as in JSON.parse.
    if (JSON.parse(json.slice(key.begin, key.end)) === name) {
      found = json.slice(value.begin, value.end);
    }
    at = token(json, value.end).end; // After the comma.
  }
  return found;
}

interface Span {
  begin: number;
  end: number;
}

function valueAt(json: string, from: number): Span {
  const first = token(json, from);
  if (!'{['.includes(json.charAt(first.begin))) return first;
  let depth = 1;
  let end = first.end;
  while (depth > 0 && end < json.length) {
    const next = token(json, end);
    const sign = json.charAt(next.begin);
    if (sign === '{' || sign === '[') depth += 1;
    if (sign === '}' || sign === ']') depth -= 1;
    end = next.end;
  }
  return { begin: first.begin, end };
}

/** A punctuation character, or a whole string, number or keyword. */
function token(json: string, from: number): Span {
  const pattern = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/y;
  pattern.lastIndex = from;
  const text = pattern.exec(json)?.[1] ?? '';
  const end = text === '' ? json.length : pattern.lastIndex;
  return { begin: end - text.length, end };
}
