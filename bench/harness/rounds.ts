// Several rounds in which all take part in turn.

/** After a round that does not count, or each part sees to it. */
export type WarmUp = 'in a round' | 'by themselves';

/**
 * By name, what each round gave. Every second one goes backwards: nobody is always after the same, and neighbours
 * stay neighbours. What is compared should be next to each other: a machine changes its speed within a minute.
 */
export async function inRounds<T>(
  rounds: number,
  parts: ReadonlyMap<string, () => Promise<T>>,
  warmUp: WarmUp = 'in a round',
): Promise<Map<string, T[]>> {
  const results = new Map([...parts.keys()].map((name): [string, T[]] => [name, []]));
  const names = [...parts.keys()];
  for (let round = warmUp === 'in a round' ? 0 : 1; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await parts.get(name)?.();
      if (round > 0 && result !== undefined) results.get(name)?.push(result);
    }
  }
  return results;
}
