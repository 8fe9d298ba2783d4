// Appends the next page to the items of a list. Pure.

/** An item that already arrived by the stream is kept where it is: it is at least as new. */
export function joinItems<T extends { readonly id: string }>(
  shown: readonly T[],
  next: readonly T[],
): T[] {
  const known = new Set(shown.map(({ id }) => id));
  return [...shown, ...next.filter(({ id }) => !known.has(id))];
}
