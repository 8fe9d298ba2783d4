// Runs several rounds in which all contenders take turns.

/** Whether a first round is dropped, or each part warms up by itself. */
export type WarmUp = 'in a round' | 'by themselves';

/**
 * Returns the results of each round, by name. Every second round runs backwards, so that no
 * contender always follows the same one. Contenders to compare should be neighbours: a machine may
 * change its speed within a minute.
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
