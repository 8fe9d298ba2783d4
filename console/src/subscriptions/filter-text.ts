// Prints a payload filter for a form field, and its values for a summary. Pure.
import type { Filter } from '../../../src/client/contract/subscription.ts';

/** JSON with one pointer per line; a single value is printed without its list. */
export function filterText(filter: NonNullable<Filter>): string {
  const lines = Object.entries(filter).map(([pointer, allowed]) => {
    const texts = filterValues(allowed).map((value) => JSON.stringify(value));
    const text = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
    return `  ${JSON.stringify(pointer)}: ${text}`;
  });
  return `{\n${lines.join(',\n')}\n}`;
}

/** The contract allows a single value in place of a list. */
export function filterValues(allowed: unknown): readonly unknown[] {
  return Array.isArray(allowed) ? allowed : [allowed];
}

/** A string is printed without quotes if it cannot be mistaken for another value. */
export function valueText(value: unknown): string {
  const isPlain =
    typeof value === 'string' && /^(?!(?:true|false|null)$)\p{L}[\p{L}\p{N}_.-]*$/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}
