// Payloads of events against the contract: a payload must fit every callback that could hear the event,
// subscribed or not, so that nothing broken is ever delivered.
import { patternsFor } from '../core/pattern.ts';
import type { Fault } from '../core/problem.ts';
import type { CallbackDefinition, Contract } from './contract.ts';
import { printTemplate } from './template.ts';

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

/** The callbacks of the contract that can hear the event. */
export function hearing(contract: Contract, event: string): readonly CallbackDefinition[] {
  const patterns = new Set(patternsFor(event));
  return definitionsOf(contract).filter((definition) => {
    const isOpen = definition.event.some((part) => part.kind === 'expression');
    return isOpen || patterns.has(printTemplate(definition.event));
  });
}

/** Every callback definition, in the order of the document. */
export function definitionsOf({ operations }: Contract): readonly CallbackDefinition[] {
  return operations.flatMap(({ role }) =>
    role.kind === 'subscribe' ? role.variants.flatMap(({ callbacks }) => callbacks) : [],
  );
}
