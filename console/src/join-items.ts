// Puts a further page behind what a list shows. Pure.

/** What came another way meanwhile is shown once, where it stands: it is at least as new. */
export function joinItems<T extends { readonly id: string }>(
  shown: readonly T[],
  next: readonly T[],
): T[] {
  const known = new Set(shown.map(({ id }) => id));
  return [...shown, ...next.filter(({ id }) => !known.has(id))];
}
