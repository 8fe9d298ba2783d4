// Measures the size of a document before any code walks through it: a few lines of YAML aliases can
// expand to a billion values, and a few megabytes of brackets to ten million. Never recursive.
import { bounds } from './bounds.ts';

export type Weighing = { kind: 'weighed'; nodes: number } | { kind: 'flaw'; reason: string };

/** Counts the values and keys of JSON text before it is parsed. Does not validate. */
export function weighJson(text: string): Weighing {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === comma || code === colon) {
      nodes += 1;
    } else if (code === openBrace || code === openBracket) {
      nodes += 1;
      depth += 1;
      if (depth > bounds.documentDepthMax) return { kind: 'flaw', reason: tooDeep };
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
    }
  }
  return { kind: 'weighed', nodes };
}

/**
 * Why values that may share parts are too large, with each part counted as often as it is reached.
 */
export function valueFlaw(root: unknown): string | undefined {
  const weights = new Map<object, Weight | 'open'>();
  const frames: Frame[] = [];
  let last = enter(root, { weights, frames });
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (last === 'open') return circular;
    if (last !== undefined) add(frame, last);
    if (frame.nodes > bounds.documentNodesMax) return tooMany;
    if (frame.chars > bounds.documentCharsMax) return tooLong;
    if (frame.depth > bounds.documentDepthMax || frames.length > bounds.documentDepthMax) {
      return tooDeep;
    }
    if (frame.next < frame.members.length) {
      const member = frame.members[frame.next];
      frame.next += 1;
      last = enter(member, { weights, frames });
    } else {
      frames.pop();
      last = { nodes: frame.nodes, chars: frame.chars, depth: frame.depth };
      weights.set(frame.value, last);
    }
  }
  return undefined;
}

const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

const tooDeep = `it is nested deeper than ${bounds.documentDepthMax} levels`;
const tooLong = `it expands to more than ${bounds.documentCharsMax} characters`;
const circular = 'a value contains itself, through its alias';
export const tooMany = `it contains more than ${bounds.documentNodesMax} values`;

interface Weight {
  nodes: number;
  chars: number;
  depth: number;
}

/** A list or an object that is being measured. */
interface Frame extends Weight {
  value: object;
  members: readonly unknown[];
  next: number;
}

interface Desk {
  weights: Map<object, Weight | 'open'>;
  frames: Frame[];
}

/** The weight, if it is known; else pushes a new frame. */
function enter(value: unknown, { weights, frames }: Desk): Weight | 'open' | undefined {
  if (typeof value === 'string') return { nodes: 1, chars: value.length, depth: 0 };
  if (typeof value !== 'object' || value === null) return { nodes: 1, chars: 8, depth: 0 };
  const known = weights.get(value);
  if (known !== undefined) return known;
  weights.set(value, 'open');
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  frames.push({
    value,
    members: Object.values(value),
    next: 0,
    nodes: 1 + keys.length,
    chars: keys.reduce((sum, key) => sum + key.length, 2),
    depth: 1,
  });
  return undefined;
}

function add(frame: Frame, { nodes, chars, depth }: Weight): void {
  frame.nodes += nodes;
  frame.chars += chars;
  frame.depth = Math.max(frame.depth, depth + 1);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}
