// Matches regular expressions of documents in time linear in the text. It follows sets of positions
// through the text instead of backtracking, so `(a+)+$` costs what `a+$` costs. The sets that occur
// are cached, so most steps are one table lookup.
import { bounds } from '../document/bounds.ts';
import type { StepBudget } from './step-budget.ts';
import { parseRegex, makeProgram, programSize, type Node, type Program } from './regex-program.ts';

export interface Regex {
  /** Throws when the budget is exhausted. */
  test: (text: string, budget: StepBudget) => boolean;
}

export type RegexReading =
  /** `node`: what it is made of, for writing a text that it matches. */
  | { kind: 'regex'; regex: Regex; node: Node; isUnicode: boolean }
  | { kind: 'refused'; reason: string };

/** Cheap: the matcher is compiled on first use. */
export function readRegex(source: string): RegexReading {
  if (source.length > bounds.regexCharsMax) {
    return refused(`has more than ${bounds.regexCharsMax} characters`);
  }
  // Real documents escape more than the strict Unicode mode allows; then the legacy mode parses it.
  const isUnicode = isValid(source, 'u');
  if (!isUnicode && !isValid(source, '')) return refused('is not a valid regular expression');
  const parsed = parseRegex(source, isUnicode);
  if (parsed.kind === 'unsupported') {
    return refused(`has ${parsed.reason}, which can take unbounded time`);
  }
  const { main } = parsed;
  const aheads = parsed.ahead.map(fromStart);
  if (
    [main, ...aheads.map(({ node }) => node)].some(
      (node) => programSize(node) > bounds.regexSizeMax,
    )
  ) {
    return refused(`has more than ${bounds.regexSizeMax} parts once repetitions are expanded`);
  }
  const test = makeTest(main, { wanted: true, isUnicode });
  if (aheads.length === 0) return { kind: 'regex', regex: { test }, node: main, isUnicode };
  const others = aheads.map(({ node, wanted }) => makeTest(node, { wanted, isUnicode }));
  const testAll: Regex['test'] = (text, budget) =>
    [test, ...others].every((one) => one(text, budget));
  return { kind: 'regex', regex: { test: testAll }, node: main, isUnicode };
}

function refused(reason: string): RegexReading {
  return { kind: 'refused', reason };
}

function isValid(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

function fromStart({ node, wanted }: Ahead): Ahead {
  return { node: { kind: 'all', parts: [{ kind: 'assert', what: 'start' }, node] }, wanted };
}

interface Ahead {
  node: Node;
  wanted: boolean;
}

/** A set of instructions between two characters; the character before is known by its kind. */
interface State {
  instructions: readonly number[];
  /** The set is empty: no continuation can match. */
  isDead: boolean;
  before: Edge;
  /**
   * By character; missing entries were not met yet. A list for ASCII, which covers most texts, is
   * faster.
   */
  ascii: (State | undefined)[];
  others: Map<number, State>;
  fitsAtEnd: boolean | undefined;
}

/** The kind of character on one side of a position. */
type Edge = 'nothing' | 'word' | 'other';

/** The cached states of one expression. */
interface Machine {
  program: Program;
  states: Map<string, State>;
  start: State;
}

/** The slot in which an expression keeps its machine. */
interface Shelf {
  machine: Machine | undefined;
}

/** The cached states of all expressions. When they grow too large, all are dropped. */
const memory = { shelves: new Array<Shelf>(), size: 0 };

function remember(size: number): void {
  memory.size += size;
  if (memory.size <= bounds.regexMemoryMax) return;
  for (const shelf of memory.shelves) {
    shelf.machine?.states.clear(); // It may be in use.
    shelf.machine = undefined;
  }
  memory.shelves = [];
  memory.size = 0;
}

const asciiCodes = 128;

function makeState(instructions: readonly number[], before: Edge): State {
  remember(instructions.length + asciiCodes);
  const ascii = Array.from<State | undefined>({ length: asciiCodes });
  const isDead = instructions.length === 0;
  return { instructions, isDead, before, ascii, others: new Map(), fitsAtEnd: undefined };
}

function makeTest(
  node: Node,
  { wanted, isUnicode }: { wanted: boolean; isUnicode: boolean },
): Regex['test'] {
  const shelf: Shelf = { machine: undefined };
  const size = programSize(node);
  return (text, budget) => {
    if (shelf.machine === undefined) budget.spend(size * costOfInstruction);
    const machine = shelf.machine ?? makeMachine(node, isUnicode);
    if (shelf.machine === undefined) {
      shelf.machine = machine;
      memory.shelves.push(shelf);
    }
    return matches(machine, text, budget) === wanted;
  };
}

function makeMachine(node: Node, isUnicode: boolean): Machine {
  remember(programSize(node));
  const start = makeState([0], 'nothing');
  return { program: makeProgram(node, isUnicode), states: new Map(), start };
}

/** The cost of creating one instruction, in characters. */
const costOfInstruction = 50;

/** The cost of a transition that is not cached, and of each instruction that may take the character. */
const costOfAdvance = 60;
const costOfWaiting = 10;

/** The fixed cost of a test, in characters. */
const costOfTest = 10;

function matches(machine: Machine, text: string, budget: StepBudget): boolean {
  budget.spend(text.length + costOfTest);
  let state = machine.start;
  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at);
    if (code >= 0xd800 && code <= 0xdbff && machine.program.isUnicode) {
      code = text.codePointAt(at) ?? code;
      if (code > 0xffff) at += 1;
    }
    const known = code < asciiCodes ? state.ascii[code] : state.others.get(code);
    const next = known ?? advance(machine, { state, code }, budget);
    if (next === 'fits') return true;
    if (next.isDead) return false;
    state = next;
  }
  state.fitsAtEnd ??= reachableFrom(machine, state, { after: 'nothing', budget }).fits;
  return state.fitsAtEnd;
}

/** The first transition of a state over a character; `fits`: it matches whatever follows. */
function advance(
  machine: Machine,
  { state, code }: { state: State; code: number },
  budget: StepBudget,
): State | 'fits' {
  budget.spend(costOfAdvance);
  const reached = reachableFrom(machine, state, { after: edgeOf(code), budget });
  if (reached.fits) return 'fits';
  budget.spend(reached.waiting.length * costOfWaiting);
  const instructions = new Set(machine.program.isAnchored ? [] : [0]);
  for (const one of reached.waiting) {
    if (one.accepts(code)) instructions.add(one.next);
  }
  const next = stateOf(machine, { instructions: [...instructions], before: edgeOf(code) });
  if (code < asciiCodes) {
    state.ascii[code] = next;
  } else if (state.others.size < bounds.regexStepsKeptMax) {
    state.others.set(code, next);
    remember(1);
  }
  return next;
}

function reachableFrom(
  { program }: Machine,
  { instructions, before }: State,
  { after, budget }: { after: Edge; budget: StepBudget },
): ReturnType<Program['reachable']> {
  const reached = program.reachable(instructions, { before, after });
  budget.spend(reached.visited);
  return reached;
}

function stateOf(
  { states }: Machine,
  { instructions, before }: Pick<State, 'instructions' | 'before'>,
): State {
  const key = `${before} ${instructions.toSorted((a, b) => a - b).join(' ')}`;
  const known = states.get(key);
  if (known !== undefined) return known;
  const state = makeState(instructions, before);
  states.set(key, state);
  return state;
}

/** `\w` without the flag i, in both modes. */
function edgeOf(code: number): Edge {
  const isWord =
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f;
  return isWord ? 'word' : 'other';
}
