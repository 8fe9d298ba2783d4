// Decides which flaws count as the same.

/** The flaw without ids, list indexes and quoted texts; statuses are kept. */
export function kindOfFlaw(flaw: string): string {
  return flaw.replaceAll(/\d{4,}|\/\d+|"[^"]*"|_\w{8,}/g, '#').slice(0, 70);
}
