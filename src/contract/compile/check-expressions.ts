// Checks at load which expressions a contract uses: credentials are forbidden, and expressions that
// can never resolve get a warning.
import type { Parameter } from '../model/contract.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { printExpression } from '../expression/expression.ts';
import type { Expression, ParameterExpression } from '../expression/expression.ts';
import { errorAt, warn } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { credentialTest } from '../model/security.ts';

/**
 * Throws for a credential; warns, at the place, about anything that the operation does not declare.
 */
export function checkVisible(
  expressions: readonly Expression[],
  place: RefNode,
  draft: Pick<DeclaredOperation, 'parameters' | 'body'>,
): void {
  const isCredential = credentialTest(place);
  for (const expression of expressions) {
    const source = printExpression(expression);
    if (isCredential(expression)) {
      throw errorAt(
        place,
        `use "${source}"`,
        'it carries a credential, which must not be sent to receivers',
      );
    }
    const reason = unseen(expression, draft);
    if (reason !== undefined) warn(place, `"${source}" never resolves: ${reason}`);
  }
}

function unseen(
  expression: Expression,
  { parameters, body }: Pick<DeclaredOperation, 'parameters' | 'body'>,
): string | undefined {
  if (expression.kind === 'body') {
    if (expression.from === 'response' || body !== undefined) return undefined;
    return 'the operation declares no request body';
  }
  if (!('name' in expression)) return undefined;
  if (expression.from === 'response') {
    return expression.kind === 'header' ? undefined : 'a response has no such parameters';
  }
  if (isAlwaysThere(expression)) return undefined;
  const { kind, name } = expression;
  const isDeclared = parameters.some((one) => one.in === kind && nameIn(one) === name);
  return isDeclared ? undefined : `the operation declares no such ${kind} parameter`;
}

function nameIn({ in: kind, name }: Parameter): string {
  return kind === 'header' ? name.toLowerCase() : name;
}

function isAlwaysThere({ kind, name }: ParameterExpression): boolean {
  if (kind === 'header') return name === 'accept' || name === 'content-type';
  return kind === 'path' && name === 'eventType'; // Filled in at delivery.
}
