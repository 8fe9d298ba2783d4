// Payloads of events against the contract: a payload must fit every callback that could hear the event,
// subscribed or not, so that nothing broken is ever delivered.
import { createHash } from 'node:crypto';
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
 * (bench/payload.ts, 50 callbacks, an order of 842 bytes): walking through all definitions and matching
 * each schema anew a check took 15 µs and a publish over HTTP 17 % more CPU; so it takes 3 µs and 5 %.
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

/** Each schema once, however many callbacks have it, or have one that says the same. */
function findChecks(contract: Contract, event: string): Check[] {
  const found = new Map<string, Check>();
  for (const { label, payload } of hearing(contract, event)) {
    if (payload === undefined) continue;
    const key = fingerprintOf(payload);
    if (!found.has(key)) found.set(key, { label, schema: payload });
  }
  return [...found.values()];
}

const fingerprints = new WeakMap<Validator, string>();

function fingerprintOf(validator: Validator): string {
  const known = fingerprints.get(validator);
  if (known !== undefined) return known;
  const text = JSON.stringify(validator.schema());
  const made = createHash('sha256').update(text).digest('base64');
  fingerprints.set(validator, made);
  return made;
}
