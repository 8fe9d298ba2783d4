// Finds the callbacks of a contract that may match an event, without visiting all of them: by the
// patterns that match the event, and by the literal text around the expressions of incomplete
// patterns.
import { patternsFor } from '../../core/domain/pattern.ts';
import type { CallbackDefinition, Contract } from '../model/contract.ts';
import type { Template } from '../expression/template.ts';

/** In the order of the document. */
export function matchingCallbacks(
  contract: Contract,
  event: string,
): readonly CallbackDefinition[] {
  const { all, byPattern, open } = indexOf(contract);
  const patterns = patternsFor(event);
  const found = patterns.flatMap((pattern) => byPattern.get(pattern) ?? []);
  for (const { at, template } of open) {
    if (patterns.some((pattern) => canBecome(template, pattern))) found.push(at);
  }
  return found.toSorted((a, b) => a - b).flatMap((at) => all[at] ?? []);
}

/** How many definitions each event is compared with, because a subscriber completes their events. */
export function openEvents(contract: Contract): number {
  return indexOf(contract).open.length;
}

/** Every callback definition, in the order of the document. */
export function definitionsOf({ operations }: Contract): readonly CallbackDefinition[] {
  return operations.flatMap(({ role }) =>
    role.kind === 'subscribe' ? role.variants.flatMap(({ callbacks }) => callbacks) : [],
  );
}

/** Definitions by index. */
interface Index {
  all: readonly CallbackDefinition[];
  byPattern: ReadonlyMap<string, readonly number[]>;
  open: readonly { at: number; template: Template }[];
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
    if (pattern === undefined) open.push({ at, template: event });
    else byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), at]);
  }
  const index = { all, byPattern, open };
  indexes.set(contract, index);
  return index;
}

/** Undefined if the template contains expressions. */
function wholeText(template: Template): string | undefined {
  const texts = template.map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** Whether some values of its expressions turn the template into this text. */
function canBecome(template: Template, text: string): boolean {
  let at = 0;
  for (const [index, part] of template.entries()) {
    if (part.kind === 'expression') continue;
    const isLast = index > 0 && index === template.length - 1;
    const from = isLast ? text.length - part.text.length : text.indexOf(part.text, at);
    const isThere = from >= at && text.startsWith(part.text, from);
    if (!isThere || (index === 0 && from > 0)) return false;
    at = from + part.text.length;
  }
  return template.at(-1)?.kind === 'expression' || at === text.length;
}
