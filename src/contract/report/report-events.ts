// The events that can be published for a contract, each with a payload that is valid for every callback that could
// receive it.
import { bounds } from '../document/bounds.ts';
import type { CallbackDefinition, Contract } from '../model/contract.ts';
import { definitionsOf, matchingCallbacks, openEvents } from '../request/matching-callbacks.ts';
import { OutOfWork, pay } from '../schema/meter.ts';
import type { Work } from '../schema/meter.ts';
import { contractWork, outOfWork, sampleOf } from '../sample/sample.ts';
import type { Validator } from '../schema/schema.ts';
import { printTemplate } from '../expression/template.ts';

export interface EventReport {
  /** A name, a pattern such as `*` or `order.*`, or a text with expressions. */
  event: string;
  /** An event name that it matches. */
  name: string;
  /** Labels of the callbacks that match it. */
  callbacks: readonly string[];
  payload: { kind: 'sample'; value: unknown } | { kind: 'none'; why: string };
}

/** The events that an active callback can match. */
export function reportEvents(
  contract: Contract,
  active: ReadonlySet<CallbackDefinition>,
  work: Work = contractWork(),
): EventReport[] {
  const heard = definitionsOf(contract).filter((definition) => active.has(definition));
  const byEvent = Map.groupBy(heard, ({ event }) => printTemplate(event));
  return [...byEvent].map(([event, definitions]) => {
    const name = nameFor(event);
    return {
      event,
      name,
      callbacks: [...new Set(definitions.map(({ label }) => label))],
      payload: payloadFor(contract, { name, definitions, work }),
    };
  });
}

/** An event name that the pattern matches. */
function nameFor(event: string): string {
  if (event.includes('{')) return 'example';
  return event.replace(/\*$/u, 'example');
}

interface Heard {
  name: string;
  definitions: readonly CallbackDefinition[];
  work: Work;
}

/** Several callbacks may match the event, and the payload must be valid for all of them. */
function payloadFor(
  contract: Contract,
  { name, definitions, work }: Heard,
): EventReport['payload'] {
  try {
    pay(work, (openEvents(contract) + definitions.length) * bounds.sampleStepsEach);
    const checks = new Map<string, { label: string; schema: Validator }>();
    for (const { label, payload } of [...definitions, ...matchingCallbacks(contract, name)]) {
      if (payload === undefined || checks.has(payload.place)) continue;
      checks.set(payload.place, { label, schema: payload });
    }
    if (checks.size === 0) return { kind: 'sample', value: { message: 'Any value is accepted' } };
    let why = '';
    for (const [place, { schema }] of checks) {
      const sample = sampleOf(schema, work);
      if (sample.kind === 'none') return { kind: 'none', why: `${place}: ${sample.why}` };
      const refusal = refusalOf(checks.values(), sample.value, work);
      if (refusal === undefined) return sample;
      why = refusal;
    }
    return { kind: 'none', why };
  } catch (error) {
    if (error instanceof OutOfWork) return { kind: 'none', why: outOfWork };
    throw error;
  }
}

function refusalOf(
  checks: Iterable<{ label: string; schema: Validator }>,
  payload: unknown,
  work: Work,
): string | undefined {
  for (const { label, schema } of checks) {
    const [fault] = schema.check(payload, work);
    if (fault !== undefined) {
      return `callback ${label} requires a different payload: ${fault.field} ${fault.message}`;
    }
  }
  return undefined;
}
