// Payloads of events against the contract: a payload must fit every callback that could hear the event,
// subscribed or not, so that nothing broken is ever delivered.
import type { Fault } from '../core/problem.ts';
import { bounds } from './bounds.ts';
import type { Contract } from './contract.ts';
import { hearing } from './hearing.ts';
import type { Validator } from './schema.ts';

export interface PayloadFault extends Fault {
  /** The label of a callback that asks for it. */
  callback: string;
}

/** What is wrong with the payload of this event; fields are JSON pointers into it. */
export function checkPayload(contract: Contract, event: string, payload: unknown): PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const { label, schema } of checksFor(contract, event)) {
    for (const fault of schema.check(payload)) faults.push({ ...fault, callback: label });
  }
  return faults;
}

/** A schema to check against, and the first callback that asks for it. */
interface Check {
  label: string;
  schema: Validator;
}

/**
 * By the name of the event: publishers use few names, and each of them many times. Measured
 * (bench/parts/payload.ts: 50 callbacks, an order of 842 bytes, two busy cores): one check took 15 µs when it
 * walked through all definitions, now 2.5 to 3.8 µs, of about 130 µs of CPU that a publish over HTTP
 * takes. Publishes with checks against those without, by CPU: 0.83 in one run before; now 0.85 to 1.01
 * in six runs, median 0.92. Straight into the engine, without HTTP, a publish takes only 22 µs: 0.8.
 */
const checks = new WeakMap<Contract, Map<string, readonly Check[]>>();

function checksFor(contract: Contract, event: string): readonly Check[] {
  const known = checks.get(contract) ?? new Map<string, readonly Check[]>();
  const found = known.get(event);
  if (found !== undefined) return found;
  const made = findChecks(contract, event);
  if (known.size >= bounds.eventNamesKeptMax) known.clear();
  checks.set(contract, known.set(event, made));
  return made;
}

/** Each schema once, however many callbacks refer to it. */
function findChecks(contract: Contract, event: string): Check[] {
  const found = new Map<string, Check>();
  for (const { label, payload } of hearing(contract, event)) {
    if (payload !== undefined && !found.has(payload.place)) {
      found.set(payload.place, { label, schema: payload });
    }
  }
  return [...found.values()];
}
