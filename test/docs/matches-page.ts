// Compares output with what a page shows. `…` stands for values that differ from run to run: ids, times, keys.

/** Text: `…` inside a line matches anything, a line of only `…` matches any number of lines. */
export function textPattern(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n');
  const isOpen = lines.length > 1 && lines.at(-1)?.trim() === '…';
  const closed = isOpen ? lines.slice(0, -1) : lines;
  const source = closed
    .map((line, index) => linePattern(line, index === closed.length - 1))
    .join('');
  return new RegExp(`^${source}${isOpen ? String.raw`(?:\n[^]*)?` : '$'}`, 'm');
}

function linePattern(line: string, isLast: boolean): string {
  if (line.trim() === '…') return isLast ? '[^]*' : String.raw`(?:.*\n)*?`;
  const parts = line
    .trimEnd()
    .split('…')
    .map((part) => RegExp.escape(part));
  return `${parts.join('.*?')}[ \\t]*${isLast ? '$' : String.raw`\n`}`;
}

/** Whether the whole text matches, ignoring leading and trailing white space. */
export function isAsShown(shown: string, came: string): boolean {
  const match = textPattern(shown.replace(/^\s*\n/, '')).exec(came.trim());
  return match !== null && match[0].length === came.trim().length && match.index === 0;
}

/**
 * JSON: the same members in any order. `"…"` matches any value, `"sub_…"` any string with that prefix, and a
 * member `"…"` any other members. Returns the first difference.
 */
export function jsonDifference(shown: unknown, came: unknown, place = ''): string | undefined {
  if (shown === '…') return undefined;
  if (typeof shown === 'string' && typeof came === 'string') {
    return isAsShown(shown, came) ? undefined : differs(place, shown, came);
  }
  if (Array.isArray(shown) && Array.isArray(came)) {
    const more = shown.at(-1) === '…';
    const expected: unknown[] = more ? shown.slice(0, -1) : shown;
    if (!more && came.length !== expected.length) return differs(place, shown, came);
    return firstDifference(
      expected.map((one, index) => [String(index), one, came[index]]),
      place,
    );
  }
  if (isObject(shown) && isObject(came)) {
    const { '…': more, ...expected } = shown;
    const unknown = Object.keys(came).filter((name) => !Object.hasOwn(expected, name));
    if (more === undefined && unknown.length > 0) return `${place}: also has ${unknown.join(', ')}`;
    const members = Object.entries(expected);
    return firstDifference(
      members.map(([name, one]) => [name, one, came[name]]),
      place,
    );
  }
  return Object.is(shown, came) ? undefined : differs(place, shown, came);
}

type Pair = readonly [name: string, shown: unknown, came: unknown];

function firstDifference(pairs: readonly Pair[], place: string): string | undefined {
  for (const [name, shown, came] of pairs) {
    const difference = jsonDifference(shown, came, `${place}/${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function differs(place: string, shown: unknown, came: unknown): string {
  return `${place}: the page shows ${JSON.stringify(shown)}, there came ${JSON.stringify(came)}`;
}
