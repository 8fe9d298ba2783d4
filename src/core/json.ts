// Reads a JSON body strictly: valid UTF-8, bounded depth and size, no key twice. Deep nesting and
// duplicate keys are legal JSON, but break or fool what comes after, so they are refused here.
import { limits } from './limits.ts';

export type JsonReading =
  | { kind: 'value'; value: unknown }
  | { kind: 'malformed'; message: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function readJson(bytes: Uint8Array): JsonReading {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return malformed('is not valid UTF-8');
  }
  const flaw = scan(text);
  if (flaw !== undefined) return malformed(flaw);
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (error) {
    return malformed(
      `is not valid JSON: ${error instanceof Error ? error.message : 'cannot parse'}`,
    );
  }
}

function malformed(message: string): JsonReading {
  return { kind: 'malformed', message };
}

/** One pass over the text without recursion; only looks for what JSON.parse would let through. */
function scan(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []; // An object's keys so far, or undefined: an array.
  let nodes = 0;
  let keyMayFollow = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      const end = endOfString(text, at);
      nodes += 1;
      const keys = keyMayFollow ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = decodeKey(text.slice(at, end + 1));
        if (keys.has(key)) return `has the key ${JSON.stringify(key)} twice in one object`;
        if (key === '__proto__') return 'has the key "__proto__", which is not allowed';
        keys.add(key);
      }
      keyMayFollow = false;
      at = end;
    } else if (char === '{' || char === '[') {
      nodes += 1;
      open.push(char === '{' ? new Set() : undefined);
      keyMayFollow = char === '{';
      if (open.length > limits.jsonDepthMax) {
        return `is nested deeper than ${limits.jsonDepthMax} levels`;
      }
    } else if (char === '}' || char === ']') {
      open.pop();
      keyMayFollow = false;
    } else if (char === ',') {
      nodes += 1;
      keyMayFollow = open.at(-1) !== undefined;
    }
    if (nodes > limits.jsonNodesMax) return `holds more than ${limits.jsonNodesMax} values`;
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') return at;
  }
  return text.length;
}

/** `"\u0061"` and `"a"` are the same key. What cannot be decoded is left for JSON.parse to refuse. */
function decodeKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
