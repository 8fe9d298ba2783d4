// Several rounds in which all take part in turn.

/** After a round that does not count, or each part sees to it. */
export type WarmUp = 'in a round' | 'by themselves';

/** By name, what each round gave. The order turns from round to round: nobody is always after the same. */
export async function inRounds<T>(
  rounds: number,
  parts: ReadonlyMap<string, () => Promise<T>>,
  warmUp: WarmUp = 'in a round',
): Promise<Map<string, T[]>> {
  const results = new Map([...parts.keys()].map((name): [string, T[]] => [name, []]));
  const names = [...parts.keys()];
  for (let round = warmUp === 'in a round' ? 0 : 1; round <= rounds; round += 1) {
    const turn = round % names.length;
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      const result = await parts.get(name)?.();
      if (round > 0 && result !== undefined) results.get(name)?.push(result);
    }
  }
  return results;
}
