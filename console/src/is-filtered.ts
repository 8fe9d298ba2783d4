// Whether any filter of a list is set. Pure.
export function isFiltered(filter: Readonly<Record<string, string | undefined>>): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}
