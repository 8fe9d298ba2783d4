// The events that can be published for a contract, with a payload that every callback accepts which
// could hear them.
import type { CallbackDefinition, Contract } from './contract.ts';
import { definitionsOf, hearing } from './hearing.ts';
import { checkPayload } from './payload.ts';
import { sampleOf } from './sample.ts';
import { printTemplate } from './template.ts';

export interface EventReport {
  /** A name, or a pattern: `*` and `order.*`; or a text with expressions. */
  event: string;
  /** A name that it hears. */
  name: string;
  /** Labels of the callbacks that hear it. */
  callbacks: readonly string[];
  payload: { kind: 'sample'; value: unknown } | { kind: 'none'; why: string };
}

/** Those that somebody can ever hear. */
export function reportEvents(
  contract: Contract,
  active: ReadonlySet<CallbackDefinition>,
): EventReport[] {
  const heard = definitionsOf(contract).filter((definition) => active.has(definition));
  const byEvent = Map.groupBy(heard, ({ event }) => printTemplate(event));
  return [...byEvent].map(([event, definitions]) => {
    const name = nameFor(event);
    return {
      event,
      name,
      callbacks: [...new Set(definitions.map(({ label }) => label))],
      payload: payloadFor(contract, name, definitions),
    };
  });
}

/** An event that the pattern hears. */
function nameFor(event: string): string {
  if (event.includes('{')) return 'example';
  return event.replace(/\*$/u, 'example');
}

/** Several callbacks may hear it, and the payload must suit them all. */
function payloadFor(
  contract: Contract,
  name: string,
  definitions: readonly CallbackDefinition[],
): EventReport['payload'] {
  const others = hearing(contract, name).filter((one) => !definitions.includes(one));
  const schemas = [...definitions, ...others].flatMap(({ payload }) => payload ?? []);
  const unique = schemas.filter(
    (schema, index) => schemas.findIndex(({ place }) => place === schema.place) === index,
  );
  if (unique.length === 0) return { kind: 'sample', value: { message: 'Any value is accepted' } };
  let why = '';
  for (const schema of unique) {
    const sample = sampleOf(schema);
    if (sample.kind === 'none') return { kind: 'none', why: `${schema.place}: ${sample.why}` };
    const [fault] = checkPayload(contract, name, sample.value);
    if (fault === undefined) return sample;
    why =
      `callback ${fault.callback} requires a different payload: ${fault.field} ` +
      `${fault.message}`;
  }
  return { kind: 'none', why };
}
