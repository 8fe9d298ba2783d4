// Validates event payloads against the contract. A payload must match the schema of every callback
// that the event could reach, subscribed or not, so that no invalid payload is ever delivered.
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { Contract } from '../model/contract.ts';
import { OutOfWork, type Work } from '../schema/meter.ts';
import { matchingCallbacks } from './matching-callbacks.ts';
import type { Validator } from '../schema/schema.ts';

export interface PayloadFault extends Fault {
  /** The label of a callback whose schema it violates. */
  callback: string;
}

/**
 * The faults of the payload of this event; fields are JSON pointers into it. Payloads that are checked at once share the
 * work.
 */
export function checkPayload(
  contract: Contract,
  event: string,
  payload: unknown,
  work: Work = { left: bounds.requestStepsMax },
): PayloadFault[] {
  const faults: PayloadFault[] = [];
  for (const { label, schema } of checksFor(contract, event)) {
    try {
      for (const fault of schema.check(payload, work)) faults.push({ ...fault, callback: label });
    } catch (error) {
      if (!(error instanceof OutOfWork)) throw error;
      return [...faults, { field: '', message: tooMuch, callback: label }];
    }
  }
  return faults;
}

const tooMuch = `cannot be validated: the checks of this request take more than ${bounds.requestStepsMax} steps`;

/** A schema to check, and the first callback that requires it. */
interface Check {
  label: string;
  schema: Validator;
}

/**
 * Cached by event name: publishers use few names, each many times. Searching all definitions for
 * each publish made the check several times slower (bench/parts/payload.ts).
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
  for (const { label, payload } of matchingCallbacks(contract, event)) {
    if (payload !== undefined && !found.has(payload.place)) {
      found.set(payload.place, { label, schema: payload });
    }
  }
  return [...found.values()];
}
