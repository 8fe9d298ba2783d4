// Compiles a regular expression to instructions: each matches one character, splits, or asserts
// something about the position. Repetitions are unrolled, so check the size before compiling.
import type { Node } from './regex-parse.ts';

export interface Program {
  isUnicode: boolean;
  /** Whether only a match from the start of the text counts. */
  isAnchored: boolean;
  /** Everything that can be reached from the instructions without reading a character. */
  reach: (instructions: readonly number[], around: Around) => Reached;
}

export interface Around {
  before: string;
  after: string;
}

export interface Reached {
  /** The expression matches right here. */
  fits: boolean;
  waiting: readonly Waiting[];
  /** How many instructions were visited. */
  visited: number;
}

export interface Waiting {
  accepts: (code: number) => boolean;
  next: number;
}

type Instruction =
  | ({ kind: 'one' } & Waiting)
  | { kind: 'split'; ways: number[] }
  | { kind: 'assert'; holds: (around: Around) => boolean; next: number }
  | { kind: 'fit' };

/** Approximate number of instructions. */
export function programSize(node: Node): number {
  switch (node.kind) {
    case 'one':
    case 'assert':
      return 1;
    case 'all':
      return node.parts.reduce((sum, part) => sum + programSize(part), 1);
    case 'any':
      return node.parts.reduce((sum, part) => sum + programSize(part) + 1, 1);
    case 'repeat': {
      const { min, max } = node;
      const times = max === Infinity ? min + 1 : Math.max(min, max);
      return times * (programSize(node.part) + 1) + 1;
    }
  }
}

export function makeProgram(node: Node, isUnicode: boolean): Program {
  const instructions: Instruction[] = [];
  write(node, { instructions, judges: new Map(), isUnicode });
  instructions.push({ kind: 'fit' });
  return {
    isUnicode,
    isAnchored: startsAnchored(node),
    reach: (from, around) => reach(instructions, from, around),
  };
}

function reach(
  instructions: readonly Instruction[],
  from: readonly number[],
  around: Around,
): Reached {
  const seen = new Set(from);
  const waiting: Waiting[] = [];
  let fits = false;
  for (const at of seen) {
    const instruction = instructions[at];
    if (instruction === undefined) continue;
    if (instruction.kind === 'one') waiting.push(instruction);
    if (instruction.kind === 'fit') fits = true;
    // The loop also visits entries that are added on the way.
    if (instruction.kind === 'split') for (const way of instruction.ways) seen.add(way);
    if (instruction.kind === 'assert' && instruction.holds(around)) seen.add(instruction.next);
  }
  return { fits, waiting, visited: seen.size };
}

interface Writer {
  instructions: Instruction[];
  /** By source text. */
  judges: Map<string, Waiting['accepts']>;
  isUnicode: boolean;
}

/** Appends the instructions of a node. */
function write(node: Node, writer: Writer): void {
  const { instructions } = writer;
  const next = instructions.length + 1;
  switch (node.kind) {
    case 'one':
      instructions.push({ kind: 'one', accepts: judgeOf(node.source, writer), next });
      break;
    case 'assert':
      instructions.push({ kind: 'assert', holds: holds[node.what], next });
      break;
    case 'all':
      for (const part of node.parts) write(part, writer);
      break;
    case 'any':
      writeAny(node.parts, writer);
      break;
    case 'repeat':
      writeRepeat(node, writer);
      break;
  }
}

function writeAny(parts: readonly Node[], writer: Writer): void {
  const { instructions } = writer;
  const entrance: number[] = [];
  const exits: number[][] = [];
  instructions.push({ kind: 'split', ways: entrance });
  for (const part of parts) {
    entrance.push(instructions.length);
    write(part, writer);
    const exit: number[] = [];
    exits.push(exit);
    instructions.push({ kind: 'split', ways: exit });
  }
  for (const exit of exits) exit.push(instructions.length);
}

/** `a{2,4}` is `aa(a(a)?)?`, and `a{2,}` is `aaa*`. */
function writeRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, writer: Writer): void {
  const { instructions } = writer;
  for (let count = 0; count < min; count += 1) write(part, writer);
  if (max === Infinity) {
    const start = instructions.length;
    const ways = [start + 1];
    instructions.push({ kind: 'split', ways });
    write(part, writer);
    instructions.push({ kind: 'split', ways: [start] });
    ways.push(instructions.length);
    return;
  }
  const exits: number[][] = [];
  for (let count = min; count < max; count += 1) {
    const ways = [instructions.length + 1];
    exits.push(ways);
    instructions.push({ kind: 'split', ways });
    write(part, writer);
  }
  for (const exit of exits) exit.push(instructions.length);
}

const holds: Readonly<
  Record<Extract<Node, { kind: 'assert' }>['what'], (around: Around) => boolean>
> = {
  start: ({ before }) => before === 'nothing',
  end: ({ after }) => after === 'nothing',
  'word edge': ({ before, after }) => (before === 'word') !== (after === 'word'),
  'no word edge': ({ before, after }) => (before === 'word') === (after === 'word'),
};

/** The engine matches single characters, because it knows what a class means. */
function judgeOf(source: string, { judges, isUnicode }: Writer): Waiting['accepts'] {
  const known = judges.get(source);
  if (known !== undefined) return known;
  const judge = new RegExp(`^(?:${source})$`, isUnicode ? 'u' : '');
  const accepts = (code: number): boolean =>
    judge.test(isUnicode ? String.fromCodePoint(code) : String.fromCharCode(code));
  judges.set(source, accepts);
  return accepts;
}

function startsAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'one':
      return false;
    case 'assert':
      return node.what === 'start';
    case 'all':
      return node.parts[0] !== undefined && startsAnchored(node.parts[0]);
    case 'any':
      return node.parts.every(startsAnchored);
    case 'repeat':
      return node.min > 0 && startsAnchored(node.part);
  }
}
