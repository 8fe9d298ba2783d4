// Small changes to a source file, each of which a test should detect: a comparison inverted or off by one, a condition
// negated, a call or a return removed, a number increased by one.
import { parseAst } from 'rolldown/parseAst';
import type { SourceChange } from '../controls/change-source.ts';

export interface Mutant extends SourceChange {
  line: number;
  /** The changed text, without the context that makes `find` unique. */
  from: string;
  to: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

interface Edit {
  start: number;
  end: number;
  to: string;
}

/** Replacements of operators; each one is a mutant. */
const operators: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['===', '>'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '+=': ['-='],
  '-=': ['+='],
};
const extremes: Readonly<Record<string, string>> = {
  'Math.min': 'Math.max',
  'Math.max': 'Math.min',
};

/** All mutants of a file, in the order of the source. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const edits: Edit[] = [];
  visit(parse(source), (node) => edits.push(...editsOf(node, source)));
  return edits
    .sort((one, other) => one.start - other.start)
    .filter((edit) => parses(applied(source, edit)))
    .map((edit) => mutantOf(file, source, edit));
}

function editsOf(node: Node, source: string): Edit[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return operatorEdits(node, source);
    case 'UnaryExpression':
      return node['operator'] === '!' ? [{ start: node.start, end: node.start + 1, to: '' }] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement':
      return conditionEdits(member(node, 'test'), source);
    case 'ExpressionStatement':
      return isCall(node, source) ? [{ start: node.start, end: node.end, to: 'void 0;' }] : [];
    case 'ReturnStatement':
      return node['argument'] === null ? [{ start: node.start, end: node.end, to: 'void 0;' }] : [];
    case 'MemberExpression': {
      const to = extremes[source.slice(node.start, node.end)];
      return to === undefined ? [] : [{ start: node.start, end: node.end, to }];
    }
    case 'Literal':
      return literalEdits(node);
    default:
      return [];
  }
}

/** Negates a condition, unless it is a comparison or a negation, which operatorEdits inverts. */
function conditionEdits({ type, start, end }: Node, source: string): Edit[] {
  if (type === 'BinaryExpression' || type === 'UnaryExpression') return [];
  return [{ start, end, to: `!(${source.slice(start, end)})` }];
}

function operatorEdits(node: Node, source: string): Edit[] {
  const operator = String(node['operator']);
  const start = source.indexOf(operator, member(node, 'left').end);
  const right = member(node, 'right');
  const hasOrder = right['name'] !== 'undefined' && typeof right['value'] !== 'string';
  return (operators[operator] ?? [])
    .filter((to) => hasOrder || to !== '>') // `>` with a string or undefined is meaningless.
    .map((to) => ({ start, end: start + operator.length, to }));
}

function literalEdits({ start, end, value, raw }: Node): Edit[] {
  if (typeof value === 'boolean') return [{ start, end, to: String(!value) }];
  return typeof value === 'number' ? [{ start, end, to: `(${String(raw)} + 1)` }] : [];
}

/** Removing an assertion changes nothing unless there is already a bug, so assertions do not count. */
function isCall(statement: Node, source: string): boolean {
  let inner = member(statement, 'expression');
  while (inner.type === 'AwaitExpression' || inner.type === 'UnaryExpression') {
    inner = member(inner, 'argument');
  }
  return inner.type === 'CallExpression' && !source.slice(inner.start).startsWith('assert');
}

function visit(node: Node, each: (node: Node) => void): void {
  if (node.type.startsWith('TS') && !('expression' in node)) return; // Types have no effect at run time.
  if (node.type === 'ImportDeclaration') return;
  each(node);
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) visit(one, each);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function member(node: Node, name: string): Node {
  const found = node[name];
  if (!isNode(found)) throw new Error(`Cannot read a ${node.type}: it has no ${name}`);
  return found;
}

function parse(source: string): Node {
  return parseAst(source, { lang: 'ts' }) as unknown as Node;
}

function parses(source: string): boolean {
  try {
    parse(source);
    return true;
  } catch {
    return false;
  }
}

function applied(source: string, { start, end, to }: Edit): string {
  return source.slice(0, start) + to + source.slice(end);
}

/** Extends the change by context until it is unique in the file. */
function mutantOf(file: string, source: string, { start, end, to }: Edit): Mutant {
  let [from, until] = [start, end];
  while (source.split(source.slice(from, until)).length !== 2) {
    [from, until] = [Math.max(0, from - 1), Math.min(source.length, until + 1)];
  }
  const find = source.slice(from, until);
  return {
    file,
    find,
    replace: source.slice(from, start) + to + source.slice(end, until),
    line: source.slice(0, start).split('\n').length,
    from: source.slice(start, end),
    to,
  };
}
