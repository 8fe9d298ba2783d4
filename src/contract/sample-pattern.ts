// Texts that match a regular expression. The expression is read just well enough to write something
// that probably matches; whether it does, the expression itself has the last word.
import { bounds } from './bounds.ts';
import { patternTest } from './pattern-test.ts';

/** How to write: which of the possible texts, and how many characters more than the least. */
export interface Writing {
  variant: number;
  more: number;
}

/** A writer for the pattern; undefined where it cannot be read. It may well write a wrong text. */
export function readPattern(pattern: string): ((writing: Writing) => string) | undefined {
  const reader: Reader = { chars: Array.from(pattern), at: 0, groups: 0, depth: 0 };
  const node = readChoice(reader);
  if (node === undefined || reader.at < reader.chars.length) return undefined;
  return ({ variant, more }) => write(node, { variant, more, groups: [] });
}

type Node =
  | { kind: 'char'; chars: readonly string[] }
  | { kind: 'sequence'; nodes: readonly Node[] }
  | { kind: 'choice'; nodes: readonly Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number }
  | { kind: 'group'; node: Node; number: number }
  | { kind: 'back'; number: number };

interface Reader {
  chars: readonly string[];
  at: number;
  groups: number;
  depth: number;
}

const nothing: Node = { kind: 'sequence', nodes: [] };

function readChoice(reader: Reader): Node | undefined {
  const nodes: Node[] = [];
  do {
    if (nodes.length > 0) reader.at += 1;
    const sequence = readSequence(reader);
    if (sequence === undefined) return undefined;
    nodes.push(sequence);
  } while (reader.chars[reader.at] === '|');
  const [only, ...others] = nodes;
  return only !== undefined && others.length === 0 ? only : { kind: 'choice', nodes };
}

function readSequence(reader: Reader): Node | undefined {
  const nodes: Node[] = [];
  for (;;) {
    const char = reader.chars[reader.at];
    if (char === undefined || char === '|' || char === ')') return { kind: 'sequence', nodes };
    const atom = readAtom(reader, char);
    if (atom === undefined) return undefined;
    nodes.push(readQuantifier(reader, atom));
  }
}

function readAtom(reader: Reader, char: string): Node | undefined {
  switch (char) {
    case '(':
      return readGroup(reader);
    case '[':
      return readClass(reader);
    case '\\':
      return readEscape(reader);
    case '^':
    case '$':
      reader.at += 1;
      return nothing;
    case '.':
      reader.at += 1;
      return charOf('.');
    default:
      reader.at += 1;
      return { kind: 'char', chars: [char] };
  }
}

/** What looks ahead or behind writes nothing; the check at the end knows whether it is content. */
function readGroup(reader: Reader): Node | undefined {
  const rest = reader.chars.slice(reader.at, reader.at + 100).join('');
  const start = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[ims-]+:))?/u.exec(rest)?.[0] ?? '(';
  reader.at += Array.from(start).length;
  reader.depth += 1;
  if (reader.depth > bounds.schemaDepthMax) return undefined;
  const isLook = /[=!]$/u.test(start);
  const isCapture = start === '(' || start.endsWith('>');
  if (isCapture) reader.groups += 1;
  const number = reader.groups;
  const node = readChoice(reader);
  reader.depth -= 1;
  if (node === undefined || reader.chars[reader.at] !== ')') return undefined;
  reader.at += 1;
  if (isLook) return nothing;
  return isCapture ? { kind: 'group', node, number } : node;
}

function readClass(reader: Reader): Node | undefined {
  let end = reader.at + 1;
  while (end < reader.chars.length && reader.chars[end] !== ']') {
    end += reader.chars[end] === '\\' ? 2 : 1;
  }
  const source = reader.chars.slice(reader.at, end + 1).join('');
  reader.at = end + 1;
  return charOf(source);
}

function readEscape(reader: Reader): Node | undefined {
  const rest = reader.chars.slice(reader.at, reader.at + 40).join('');
  const back = /^\\(?:[1-9]|k<[^>]*>)/u.exec(rest)?.[0];
  const shape = /^\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\}|p\{[^}]*\}|c[a-z]|.)/isu;
  const source = back ?? shape.exec(rest)?.[0] ?? '\\';
  reader.at += Array.from(source).length;
  if (back !== undefined) return { kind: 'back', number: Number(back[1]) || reader.groups };
  return /^\\b$/iu.test(source) ? nothing : charOf(source);
}

function readQuantifier(reader: Reader, node: Node): Node {
  const rest = reader.chars.slice(reader.at, reader.at + 24).join('');
  const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/u.exec(rest);
  if (found === null) return node;
  const [text, least, comma, most] = found;
  reader.at += text.length;
  if (least === undefined) {
    const max = text.startsWith('?') ? 1 : Infinity;
    return { kind: 'repeat', node, min: text.startsWith('+') ? 1 : 0, max };
  }
  const min = Number(least);
  const max = comma === '' ? min : most === '' ? Infinity : Number(most);
  return { kind: 'repeat', node, min, max };
}

/** What people would write first; then whatever there is. */
const alphabet = Array.from(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_./:@+ !"#$%&\'()*,;<=>?[\\]^`{|}~é中\t\n',
);

/** The characters that this piece of the pattern matches. */
function charOf(source: string): Node | undefined {
  const isMatch = patternTest(`^(?:${source})$`);
  const chars = alphabet.filter(isMatch);
  if (chars.length > 0) return { kind: 'char', chars };
  for (let code = 0; code <= 0xff_ff; code += 1) {
    const char = String.fromCharCode(code);
    if (char.isWellFormed() && isMatch(char)) return { kind: 'char', chars: [char] };
  }
  return undefined;
}

interface Pen extends Writing {
  groups: string[];
}

function write(node: Node, pen: Pen): string {
  switch (node.kind) {
    case 'char':
      return pick(node.chars, pen) ?? '';
    case 'choice': {
      const chosen = pick(node.nodes, pen);
      return chosen === undefined ? '' : write(chosen, pen);
    }
    case 'sequence':
      return node.nodes.map((one) => write(one, pen)).join('');
    case 'group': {
      const text = write(node.node, pen);
      pen.groups[node.number] = text;
      return text;
    }
    case 'back':
      return pen.groups[node.number] ?? '';
    case 'repeat':
      return repeat(node, pen);
  }
}

function repeat({ node, min, max }: Extract<Node, { kind: 'repeat' }>, pen: Pen): string {
  let text = '';
  for (let count = 0; count < max && text.length <= bounds.sampleCharsMax; count += 1) {
    if (count >= min && pen.more <= 0) break;
    const added = write(node, pen);
    if (added === '') break; // Nothing, however often, is nothing.
    if (count >= min) pen.more -= Math.max(1, Array.from(added).length);
    text += added;
  }
  return text;
}

/** Variants count like a clock: the first place turns fastest. */
function pick<T>(options: readonly T[], pen: Pen): T | undefined {
  const chosen = options[pen.variant % options.length];
  pen.variant = Math.floor(pen.variant / options.length);
  return chosen;
}
