// Links of a response: which operation each leads to, and what it passes on.
import { child, entries, nameOf, target, text, warn, type RefNode } from '../document/ref-node.ts';
import { resolve, type ExpressionInput } from '../expression/evaluate.ts';
import { parseExpression, type Expression } from '../expression/expression.ts';
import type { Link } from '../model/contract.ts';
import { indexOf, type DeclaredOperation } from '../model/declared-operations.ts';
import { checkVisible } from './check-expressions.ts';

/** The values of the link's parameters; those that do not resolve are left out. */
export function evaluateLink(link: Link, exchange: ExpressionInput): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, source] of link.parameters) {
    if (source.kind === 'constant') {
      values.set(name, source.value);
      continue;
    }
    const resolved = resolve(source, exchange);
    if (resolved.kind === 'found') values.set(name, resolved.value);
  }
  return values;
}

/** Drops links that lead nowhere, with a warning. */
export function compileLinks(
  response: RefNode,
  from: DeclaredOperation,
  drafts: readonly DeclaredOperation[],
): Link[] {
  return entries(child(response, 'links')).flatMap(([name, place]) => {
    const operation = operationOf(place, drafts);
    if (operation === undefined) return [];
    const parameters = entries(child(place, 'parameters')).map(
      ([key, source]) => [unqualified(key), compileSource(source, from)] as const,
    );
    return [{ name, operationId: operation.operationId, parameters: new Map(parameters) }];
  });
}

/**
 * Where this link reads the id of the created resource in the response, and the parameter that
 * takes it.
 */
export function idOf(link: Link): { parameter: string; pointer: readonly string[] } | undefined {
  for (const [parameter, source] of link.parameters) {
    if (source.kind === 'body' && source.from === 'response' && source.pointer.length > 0) {
      return { parameter, pointer: source.pointer };
    }
  }
  return undefined;
}

function operationOf(
  place: RefNode,
  drafts: readonly DeclaredOperation[],
): DeclaredOperation | undefined {
  const id = text(place, 'operationId');
  const ref = text(place, 'operationRef');
  if (id !== undefined) {
    const found = indexOf(drafts).byId.get(id);
    if (found === undefined)
      warn(place, `Cannot follow the link: no operation has the operationId "${id}"`);
    return found;
  }
  if (ref === undefined) {
    warn(place, 'Cannot follow the link: expected operationId or operationRef');
    return undefined;
  }
  const referred = target({ ...place, value: { $ref: ref } });
  const found = referred && indexOf(drafts).byLocation.get(nameOf(referred));
  if (referred !== undefined && found === undefined) {
    warn(place, `Cannot follow the link: "${ref}" is not an operation of this contract`);
  }
  return found;
}

/** `path.id` means `id`, with its location. */
function unqualified(name: string): string {
  return name.replace(/^(?:path|query|header|cookie)\.(?=.)/u, '');
}

function compileSource(
  place: RefNode,
  from: DeclaredOperation,
): Expression | { kind: 'constant'; value: unknown } {
  const { value } = place;
  if (typeof value !== 'string' || !/^\{?\$/u.test(value)) return { kind: 'constant', value };
  const parsed = parseExpression(value.replace(/^\{(.*)\}$/su, '$1'));
  if (parsed.kind === 'parsed') {
    checkVisible([parsed.expression], place, from);
    return parsed.expression;
  }
  const reason = `character ${parsed.at + 1} is no ${parsed.expected}`;
  warn(place, `Cannot read expression ${JSON.stringify(value)}: ${reason}; it is taken literally`);
  return { kind: 'constant', value };
}
