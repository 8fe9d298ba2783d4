// Payloads of events against the contract: a payload must fit every callback that could hear the event,
// subscribed or not, so that nothing broken is ever delivered.
import { patternsFor } from '../core/pattern.ts';
import type { Fault } from '../core/problem.ts';
import type { CallbackDefinition, Contract } from './contract.ts';
import type { Template } from './template.ts';

/** What is wrong with the payload of this event; fields are JSON pointers into it. */
export function checkPayload(
  contract: Contract,
  event: string,
  payload: unknown,
): (Fault & { callback: string })[] {
  const seen = new Set<string>();
  return hearing(contract, event).flatMap(({ label, payload: schema }) => {
    if (schema === undefined || seen.has(schema.place)) return [];
    seen.add(schema.place);
    return schema.check(payload).map((fault) => ({ ...fault, callback: label }));
  });
}

/** The callbacks of the contract that can hear the event: some request could make it so. */
export function hearing(contract: Contract, event: string): readonly CallbackDefinition[] {
  const patterns = patternsFor(event);
  return definitionsOf(contract).filter((definition) =>
    patterns.some((pattern) => canBecome(definition.event, pattern)),
  );
}

/** Whether some values of its expressions make this text of the template. */
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

/** Every callback definition, in the order of the document. */
export function definitionsOf({ operations }: Contract): readonly CallbackDefinition[] {
  return operations.flatMap(({ role }) =>
    role.kind === 'subscribe' ? role.variants.flatMap(({ callbacks }) => callbacks) : [],
  );
}
