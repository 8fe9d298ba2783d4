// Which flaws are the same flaw.

/** What is the same whatever ids, places in lists and texts it has; a status is no such number. */
export function kindOfFlaw(flaw: string): string {
  return flaw.replaceAll(/\d{4,}|\/\d+|"[^"]*"|_\w{8,}/g, '#').slice(0, 70);
}
