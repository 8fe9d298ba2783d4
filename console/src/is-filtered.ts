// Whether a list is narrowed by any filter. Pure.
export function isFiltered(filter: Readonly<Record<string, string | undefined>>): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}
