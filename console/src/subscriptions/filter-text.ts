// A filter as it is written in a field, and its values as they are said in a sentence. Pure.
import type { Filter } from '../../../src/client/contract/subscription.ts';

/** JSON with a pointer on each line; a single value stands without its list. */
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

/** A text stands without quotes where it can be taken for nothing else. */
export function valueText(value: unknown): string {
  const isPlain =
    typeof value === 'string' && /^(?!(?:true|false|null)$)\p{L}[\p{L}\p{N}_.-]*$/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}
