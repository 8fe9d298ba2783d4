// Several rounds in which all take part in turn, after one to warm up that does not count.

/** By name, what each round gave. The order turns from round to round: nobody is always after the same. */
export async function inRounds<T>(
  rounds: number,
  parts: ReadonlyMap<string, () => Promise<T>>,
): Promise<Map<string, T[]>> {
  const results = new Map([...parts.keys()].map((name): [string, T[]] => [name, []]));
  const names = [...parts.keys()];
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % names.length;
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      const result = await parts.get(name)?.();
      if (round > 0 && result !== undefined) results.get(name)?.push(result);
    }
  }
  return results;
}
