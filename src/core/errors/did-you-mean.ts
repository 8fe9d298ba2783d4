// Finds the known word nearest to a misspelled one, for "did you mean" in messages: "delivries"
// gives "deliveries".

/** Undefined when no word is near enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase().slice(0, charsMax);
  const reach = Math.max(1, Math.floor(typed.length * reachShare));
  const ranked = known
    .map((one) => ({ one, away: distance(typed, one.toLowerCase()) }))
    .filter(({ away }) => away <= reach)
    .sort((left, right) => left.away - right.away);
  const begun = typed.length < beginningChars ? [] : known.filter((one) => one.startsWith(typed));
  const shortest = begun.toSorted((left, right) => left.length - right.length)[0];
  return ranked[0]?.one ?? shortest;
}

/** Whether inserting, deleting or changing one character, or swapping two neighbours, turns one text into the other. */
export function isOneEdit(from: string, to: string): boolean {
  if (from.length > to.length) return isOneEdit(to, from);
  if (to.length - from.length > 1 || from === to) return false;
  let at = 0;
  while (at < from.length && from[at] === to[at]) at += 1;
  if (from.length < to.length) return from.slice(at) === to.slice(at + 1);
  if (from.slice(at + 1) === to.slice(at + 1)) return true;
  const isSwap = from[at] === to[at + 1] && from[at + 1] === to[at];
  return isSwap && from.slice(at + 2) === to.slice(at + 2);
}

/** The end of an error message: the nearest word, or else all of them. */
export function guess(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? `expected ${listed(known)}` : `did you mean "${meant}"?`;
}

/** 'a, b or c' */
export function listed(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`;
}

/** Longer words are not typos. */
const charsMax = 64;
/** Typos per letter: "delivery" still finds "deliveries". */
const reachShare = 0.4;
/** After two letters a word may be abbreviated. */
const beginningChars = 2;

/** Edit distance: letters to add, drop, change, or swap with their neighbour. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= to.length; column += 1) {
      const change = from[row - 1] === to[column - 1] ? 0 : 1;
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + change,
        isSwap ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(from.length, to.length);
}
