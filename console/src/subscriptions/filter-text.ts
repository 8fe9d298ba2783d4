// A filter as it is written in a field, and its values as they are said in a sentence. Pure.
import type { FilterValue, Settings } from '../shapes.ts';

type Filter = NonNullable<Settings['filter']>;

/** JSON with a pointer on each line; a single value stands without its list. */
export function filterText(filter: Filter): string {
  const lines = Object.entries(filter).map(([pointer, values]) => {
    const texts = values.map((value) => JSON.stringify(value));
    const text = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
    return `  ${JSON.stringify(pointer)}: ${text}`;
  });
  return `{\n${lines.join(',\n')}\n}`;
}

/** A text stands without quotes where it can be taken for nothing else. */
export function valueText(value: FilterValue): string {
  const isPlain =
    typeof value === 'string' && /^(?!(?:true|false|null)$)\p{L}[\p{L}\p{N}_.-]*$/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}
