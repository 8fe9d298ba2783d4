// Checks events before they are published: their names, subjects and customers, the contract that they belong to, and
// their payloads.
import { ownPrefix, type SkippedCallback } from '../../core/domain/event.ts';
import {
  customerFault,
  isCustomer,
  isEventName,
  isSubject,
  nameFault,
  subjectFault,
} from '../../core/domain/pattern.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { endOfTurn } from '../../core/base/end-of-turn.ts';
import { bounds } from '../../contract/document/bounds.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { checkPayload, chooseContract, type PayloadFault } from '../../contract/request/payload.ts';
import { checkWithin } from '../../contract/schema/schema.ts';
import type { WorkBudget } from '../../contract/schema/step-budget.ts';
import { misspelledEvent, type Declared, type EventTypes, type Misspelled } from './event-types.ts';

export interface NewEvent {
  name: string;
  /** What it is about. */
  subject?: string | undefined;
  /** Only subscriptions of this customer receive it. */
  customer?: string | undefined;
  /** Parsed, for the check. */
  value: unknown;
  /** As published; stored and sent unchanged. */
  payload: Uint8Array;
  /** Its location in the request, for messages: `body#` or `body#/events/3`. */
  at: string;
}

/** The rules that events must satisfy. */
export interface PublishRules {
  contracts: readonly Contract[];
  /** Payloads that break the contract are accepted with a warning. */
  isLenient: boolean;
  /** Undefined if Ringback's own contract is not executed. */
  types?: EventTypes | undefined;
}

/** Those of one publish: with what its app declares of its events. */
export interface AppRules extends PublishRules {
  declared?: Declared | undefined;
}

export type EventValidation = Fit | { kind: 'refused'; problem: Problem };

export interface Fit extends Pick<Checked, 'skipped'> {
  kind: 'fit';
  contract: Contract;
  warnings: readonly Fault[];
}

/** Whether events can be published; if not, the problem as a publisher gets it. */
export function validateEvents(
  rules: AppRules,
  events: readonly NewEvent[],
  title: string | undefined,
): EventValidation {
  const chosen = contractOf(rules, events, title);
  if (chosen instanceof Problem) return { kind: 'refused', problem: chosen };
  const checked = nothingChecked();
  return validationOf(rules, checkEvents(rules, events, { contract: chosen, checked }), chosen);
}

/** The same for a large batch, yielding to other requests while it checks the payloads. */
export async function validateEventsInTurns(
  rules: AppRules,
  events: readonly NewEvent[],
  title: string | undefined,
): Promise<EventValidation> {
  const chosen = contractOf(rules, events, title);
  if (chosen instanceof Problem) return { kind: 'refused', problem: chosen };
  const checked = nothingChecked();
  for (let at = 0; at < events.length; at += limits.eventsCheckedAtOnce) {
    if (at > 0) await endOfTurn();
    const some = events.slice(at, at + limits.eventsCheckedAtOnce);
    checkEvents(rules, some, { contract: chosen, checked });
  }
  return validationOf(rules, checked, chosen);
}

function validationOf(
  { isLenient }: PublishRules,
  { faults, skipped, misspelled }: Checked,
  contract: Contract,
): EventValidation {
  if (misspelled.length > 0) return { kind: 'refused', problem: misspelledEvent(misspelled) };
  const [first] = faults;
  if (first === undefined || isLenient) return { kind: 'fit', contract, warnings: faults, skipped };
  const detail = `The payload violates the contract: ${first.field} ${first.message}`;
  return { kind: 'refused', problem: new Problem('payload_refused', detail, { faults }) };
}

/** What checks of payloads found. */
interface Checked {
  faults: Fault[];
  /** The callbacks that events skip; undefined, as nearly always: none. */
  skipped: Map<NewEvent, readonly SkippedCallback[]> | undefined;
  misspelled: Misspelled[];
  /** What names may mean, by name, and the work left to find out. */
  meant: Map<string, string | undefined>;
  spelling: WorkBudget;
}

function nothingChecked(): Checked {
  const spelling = { left: limits.spellingCharsMax };
  return { faults: [], skipped: undefined, misspelled: [], meant: new Map(), spelling };
}

/** Stops at the maximum of reported faults, since finding each one costs time, unless they are only warnings. */
function checkEvents(
  { isLenient, declared: ofApp }: AppRules,
  events: readonly NewEvent[],
  { contract, checked }: { contract: Contract; checked: Checked },
): Checked {
  const { faults, misspelled } = checked;
  const declared = ofApp?.contract === contract ? ofApp : undefined;
  const work = { left: bounds.requestStepsMax };
  for (const event of events) {
    const isFull = faults.length >= bounds.faultsMax;
    if ((isFull && !isLenient) || misspelled.length >= bounds.faultsMax) break;
    const { name, value, at } = event;
    const meant = declared && meaningOf(name, declared, checked);
    if (meant !== undefined) misspelled.push({ name, at, meant });
    const schema = declared?.schemaOf(name);
    if (schema !== undefined) {
      const wrong = checkWithin(schema, value, work);
      if (!isFull) faults.push(...wrong.map((fault) => toFaultOfType(fault, event)));
      continue;
    }
    const found = checkPayload(contract, name, value, work);
    for (const fault of isFull ? [] : found.faults) faults.push(toFault(fault, at));
    if (found.skipped.length > 0) {
      checked.skipped ??= new Map();
      checked.skipped.set(event, found.skipped);
    }
  }
  faults.splice(bounds.faultsMax);
  return checked;
}

/** Batches repeat names. */
function meaningOf(
  name: string,
  declared: Declared,
  { meant, spelling }: Checked,
): string | undefined {
  if (!meant.has(name)) meant.set(name, declared.meantBy(name, spelling));
  return meant.get(name);
}

export function toFault({ field, message, callback, operation }: PayloadFault, at: string): Fault {
  const of = operation === undefined ? '' : ` of ${operation}`;
  return { field: `${at}/payload${field}`, message: `${message} (callback "${callback}"${of})` };
}

function toFaultOfType({ field, message }: Fault, { name, at }: NewEvent): Fault {
  return { field: `${at}/payload${field}`, message: `${message} (event type "${name}")` };
}

/** The single contract that all the events belong to. */
function contractOf(
  { contracts, types }: PublishRules,
  events: readonly NewEvent[],
  title: string | undefined,
): Contract | Problem {
  const builtIn = types?.contract;
  let found: Contract | undefined;
  for (const { name, subject, customer, at } of events) {
    const fault = faultOfName(name);
    if (fault !== undefined) return refusedEvent(name, `it ${fault}`, { at, fault });
    if (subject !== undefined && !isSubject(subject)) {
      const wrong = { at, field: 'subject', fault: subjectFault };
      return refusedEvent(name, `its subject ${subjectFault}`, wrong);
    }
    if (customer !== undefined && !isCustomer(customer)) {
      const wrong = { at, field: 'customer', fault: customerFault };
      return refusedEvent(name, `its customer ${customerFault}`, wrong);
    }
    const choice = chooseContract(contracts, { event: name, title, builtIn });
    if (choice.kind === 'none') {
      return refusedEvent(name, choice.reason, { at, fault: choice.reason });
    }
    if (found !== undefined && found !== choice.contract) {
      const reason =
        `it belongs to contract "${choice.contract.title}", earlier events of the batch to ` +
        `"${found.title}"`;
      const expected = `${reason}; publish them in batches of their own`;
      return refusedEvent(name, expected, { at, fault: expected });
    }
    found = choice.contract;
  }
  return found ?? refusedEvent('', 'there is no such event', { at: 'body#', fault: 'is missing' });
}

function refusedEvent(
  name: string,
  reason: string,
  { at, field = 'event', fault }: { at: string; field?: string; fault: string },
): Problem {
  return new Problem('invalid_request', `Cannot publish event "${name}": ${reason}`, {
    faults: [{ field: `${at}/${field}`, message: fault }],
  });
}

function faultOfName(name: string): string | undefined {
  if (!isEventName(name)) return nameFault;
  if (!name.startsWith(ownPrefix)) return undefined;
  return `starts with "${ownPrefix}", which is reserved for Ringback’s own events`;
}
