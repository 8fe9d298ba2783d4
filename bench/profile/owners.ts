// Attributes the time of a profile to the nearest function of ours on the stack, since libraries
// and Node run because our code called them; without one, to the outermost function.

export interface Profile {
  nodes: readonly ProfileNode[];
  samples: readonly number[];
  /** In microseconds, one per sample. */
  timeDeltas: readonly number[];
}

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: readonly number[];
}

export interface Owner {
  what: string;
  us: number;
  /** Where the time was spent within it, most first. */
  within: [name: string, us: number][];
}

/** Most first. */
export function ownersIn({ nodes, samples, timeDeltas }: Profile): Owner[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((of) => [of, id])));
  const owners = new Map<string, Map<string, number>>();
  for (const [index, id] of samples.entries()) {
    const stack = stackOf(id, { byId, parents });
    const [leaf] = stack;
    if (leaf === undefined) continue;
    const what = nameOf(stack.find(isOurs) ?? stack.at(-2) ?? leaf);
    const within = owners.get(what) ?? new Map<string, number>();
    const name = leaf.callFrame.functionName || '(anonymous)';
    within.set(name, (within.get(name) ?? 0) + (timeDeltas[index] ?? 0));
    owners.set(what, within);
  }
  return [...owners]
    .map(([what, within]) => ({
      what,
      us: within.values().reduce((sum, us) => sum + us, 0),
      within: [...within].sort(([, a], [, b]) => b - a),
    }))
    .sort((a, b) => b.us - a.us);
}

/** From the running function to the root. */
function stackOf(
  id: number,
  known: { byId: ReadonlyMap<number, ProfileNode>; parents: ReadonlyMap<number, number> },
): ProfileNode[] {
  const stack: ProfileNode[] = [];
  for (let at: number | undefined = id; at !== undefined; at = known.parents.get(at)) {
    const node = known.byId.get(at);
    if (node !== undefined) stack.push(node);
  }
  return stack;
}

function isOurs({ callFrame: { url } }: ProfileNode): boolean {
  return url.includes('/src/') && !url.includes('/node_modules/');
}

function nameOf({ callFrame }: ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame;
  if (url === '') return functionName;
  const file = url.replace(/^.*\/(?=src\/)|^.*\/node_modules\//, '');
  return `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}
