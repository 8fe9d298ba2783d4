// Compiles `x-ringback-variants` of an operation and assigns its callbacks to them. The extension
// is Ringback's own, so mistakes in it are errors, never guessed at.
import type { CompiledCallback } from './callbacks.ts';
import type { AnswerShape, Variant } from '../model/contract.ts';
import { isList, isObject } from '../document/document.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { parseExpression } from '../expression/expression.ts';
import type { Expression } from '../expression/expression.ts';
import { child, describe, entries, errorAt, items } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { optionalIn } from './declared.ts';
import { checkVisible } from './check-expressions.ts';

/**
 * `answer` creates the shape for the status that a variant names, or for none; undefined if an API answers. A PUT has
 * two.
 */
export function compileVariants(
  draft: DeclaredOperation,
  callbacks: readonly CompiledCallback[],
  answer: (status: number | undefined, isReplaced: boolean) => AnswerShape | undefined,
): Variant[] {
  const place = child(draft.place, 'x-ringback-variants');
  const named = entries(place);
  checkNames(callbacks, new Set(named.map(([name]) => name)));
  if (place === undefined) {
    const declared = callbacks.map(({ definition }) => definition);
    const isOptional = optionalIn(draft, declared);
    const definitions = declared.map((one) => ({ ...one, isOptional: isOptional(one) }));
    const isPut = draft.method === 'PUT';
    const answers = {
      answer: answer(undefined, false),
      replaced: isPut ? answer(undefined, true) : undefined,
    };
    return [{ name: '', needs: [], needsAny: [], callbacks: definitions, ...answers }];
  }
  if (named.length === 0) {
    throw errorAt(place, 'read the variants', `found ${describe(place.value)}, expected an object`);
  }
  return named.map(([name, variant]) => ({
    name,
    ...compileNeeds(variant, draft),
    callbacks: callbacks
      .filter((one) => one.variant === undefined || one.variant === name)
      .map(({ definition }) => definition),
    answer: answer(statusOf(variant), false),
    replaced: undefined,
  }));
}

function checkNames(callbacks: readonly CompiledCallback[], names: ReadonlySet<string>): void {
  for (const { variant, place } of callbacks) {
    if (variant === undefined || names.has(variant)) continue;
    const known = names.size === 0 ? 'the operation has none' : `expected ${[...names].join(', ')}`;
    throw errorAt(place, `use variant "${variant}"`, `it is not declared, ${known}`);
  }
}

function compileNeeds(
  place: RefNode,
  draft: DeclaredOperation,
): Pick<Variant, 'needs' | 'needsAny'> {
  if (!isObject(place.value)) {
    throw errorAt(place, 'read the variant', `found ${describe(place.value)}, expected an object`);
  }
  const needs = compileList(child(place, 'needs'), draft);
  const needsAny = compileList(child(place, 'needsAny'), draft);
  if (needs.length + needsAny.length > 0) return { needs, needsAny };
  throw errorAt(place, 'read the variant', 'it requires nothing, expected "needs" or "needsAny"');
}

function compileList(place: RefNode | undefined, draft: DeclaredOperation): Expression[] {
  if (place === undefined) return [];
  if (!isList(place.value)) {
    throw errorAt(place, 'read the needs', `found ${describe(place.value)}, expected a list`);
  }
  return items(place).map((item) => {
    const parsed = parseExpression(typeof item.value === 'string' ? item.value : '');
    const expression = parsed.kind === 'parsed' ? parsed.expression : undefined;
    if (expression === undefined || !('from' in expression) || expression.from === 'response') {
      throw errorAt(item, `use ${JSON.stringify(item.value)}`, 'expected "$request.…"');
    }
    checkVisible([expression], item, draft);
    return expression;
  });
}

function statusOf(variant: RefNode): number | undefined {
  const place = child(variant, 'status');
  if (place === undefined) return undefined;
  const { value } = place;
  const status = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN;
  if (Number.isInteger(status) && status >= 200 && status <= 299) return status;
  throw errorAt(place, 'read the status', `it is ${JSON.stringify(place.value)}, expected a 2xx`);
}
