// Which callbacks of a contract can hear an event, found without looking at all of them: by the patterns
// that hear it, and by what stands around the expressions of those that a subscriber completes.
import { patternsFor } from '../core/pattern.ts';
import type { CallbackDefinition, Contract } from './contract.ts';
import type { Template } from './template.ts';

/** In the order of the document. */
export function hearing(contract: Contract, event: string): readonly CallbackDefinition[] {
  const { all, byPattern, open } = indexOf(contract);
  const found = patternsFor(event).flatMap((pattern) => byPattern.get(pattern) ?? []);
  for (const { at, fits } of open) if (fits(event)) found.push(at);
  return found.toSorted((a, b) => a - b).flatMap((at) => all[at] ?? []);
}

/** Every callback definition, in the order of the document. */
export function definitionsOf({ operations }: Contract): readonly CallbackDefinition[] {
  return operations.flatMap(({ role }) =>
    role.kind === 'subscribe' ? role.variants.flatMap(({ callbacks }) => callbacks) : [],
  );
}

/** Definitions by their number. */
interface Index {
  all: readonly CallbackDefinition[];
  byPattern: ReadonlyMap<string, readonly number[]>;
  open: readonly { at: number; fits: (event: string) => boolean }[];
}

const indexes = new WeakMap<Contract, Index>();

function indexOf(contract: Contract): Index {
  const known = indexes.get(contract);
  if (known !== undefined) return known;
  const all = definitionsOf(contract);
  const byPattern = new Map<string, number[]>();
  const open: Index['open'][number][] = [];
  for (const [at, { event }] of all.entries()) {
    const pattern = wholeText(event);
    if (pattern === undefined) open.push({ at, fits: fitting(event) });
    else byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), at]);
  }
  const index = { all, byPattern, open };
  indexes.set(contract, index);
  return index;
}

/** Undefined when it holds expressions. */
function wholeText(template: Template): string | undefined {
  const texts = template.map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** Whether some value of the expressions makes a pattern that hears the event. */
function fitting(template: Template): (event: string) => boolean {
  const [first, last] = [template[0], template.at(-1)];
  const prefix = first?.kind === 'text' ? first.text : '';
  const suffix = last?.kind === 'text' ? last.text : '';
  // Behind a "*" nothing can follow, and it stands for any end.
  const end = suffix.includes('*') ? '' : suffix;
  return (event) =>
    event.startsWith(prefix) && event.endsWith(end) && event.length >= prefix.length + end.length;
}
