// Compiles the callbacks that an operation declares. A broken key is repaired if the repair is
// unambiguous. One that cannot be used leaves an inactive callback with the reason.
import { isEventName, literalPattern, nameFault } from '../../core/domain/pattern.ts';
import { goneStatus } from '../../core/domain/outcome.ts';
import {
  child,
  describe,
  entries,
  errorAt,
  rootOf,
  text,
  warn,
  type RefNode,
} from '../document/ref-node.ts';
import { repairKey } from '../expression/repair.ts';
import { expressionsOf, parseTemplate, type Template } from '../expression/template.ts';
import type { CallbackDefinition } from '../model/contract.ts';
import { methodsOf, type DeclaredOperation } from '../model/declared-operations.ts';
import { jsonContent } from '../model/media.ts';
import { makeValidator } from '../schema/schema.ts';
import { compileAdditions, fillPath } from './additions.ts';
import { declaredBy } from './declared.ts';
import { eventsOfKeys } from './events-per-callback-key.ts';
import { checkVisible } from './check-expressions.ts';

export interface CompiledCallback {
  definition: CallbackDefinition;
  /** `x-ringback-variant`: the only variant that registers it. */
  variant: string | undefined;
  place: RefNode;
}

/** In the order of the document. */
export function compileCallbacks(draft: DeclaredOperation): CompiledCallback[] {
  const declared = entries(child(draft.place, 'callbacks')).filter(isNoExtension);
  const labels = new Set(declared.map(([label]) => label));
  const readable = declaredBy(draft);
  return declared.flatMap(([label, callback]) => {
    const keys = entries(callback).filter(isNoExtension);
    const unnamed = keys.filter(([, item]) =>
      methodsOf(item).some(({ place }) => ownEvent([place, item]) === undefined),
    );
    const events = eventsOfKeys({ keys: unnamed, labels, readable });
    return keys.flatMap(([key, item]) =>
      compileItem({ label, key, item, event: events.get(key) ?? label }, draft),
    );
  });
}

function isNoExtension([name]: readonly [string, RefNode]): boolean {
  return !name.startsWith('x-');
}

interface Written {
  label: string;
  key: string;
  item: RefNode;
  /** The event, unless `x-ringback-event` names another. */
  event: string;
}

function compileItem(written: Written, draft: DeclaredOperation): CompiledCallback[] {
  const { label, key, item } = written;
  const operations = methodsOf(item);
  if (operations.length === 0) {
    warn(item, `has no operation (${describe(item.value)}); the callback is ignored`);
    return [];
  }
  return operations.map(({ method, place }) => {
    if (child(place, 'callbacks') !== undefined) {
      warn(place, 'has callbacks of its own; they are not executed');
    }
    const callback = { item, place, draft };
    const target = compileKey(fillPath(key, callback), item, draft);
    return {
      variant: text(item, 'x-ringback-variant') ?? text(place, 'x-ringback-variant'),
      place: item,
      definition: {
        id: `${label} ${key} ${method}`,
        operation: draft.operationId,
        label,
        ...target,
        isOptional: false,
        method,
        event: compileEvent(written.event, [place, item], draft),
        ...compilePayload(method, place),
        statuses: entries(child(place, 'responses')).map(([status]) => statusName(status)),
        additions: compileAdditions(callback, target.target),
        unsubscribeStatus: unsubscribeStatus([place, item, rootOf(item)]),
        isFinal: isFinal([place, item]),
      },
    };
  });
}

function compileKey(
  key: string,
  item: RefNode,
  draft: DeclaredOperation,
): Pick<CallbackDefinition, 'target' | 'inactive' | 'repairs'> {
  const repaired = repairKey(key, declaredBy(draft));
  if (repaired.kind === 'unusable') {
    warn(item, `the callback is inactive: ${repaired.reason}`);
    return { target: undefined, inactive: repaired.reason, repairs: [] };
  }
  for (const message of [...repaired.repairs, ...repaired.suggestions]) warn(item, message);
  checkVisible(expressionsOf(repaired.template), item, draft);
  return { target: repaired.template, inactive: undefined, repairs: repaired.repairs };
}

function compileEvent(
  label: string,
  holders: readonly [operation: RefNode, item: RefNode],
  draft: DeclaredOperation,
): Template {
  const place = ownEvent(holders);
  if (place === undefined) return [{ kind: 'text', text: patternFrom(label, holders[1]) }];
  const parsed = typeof place.value === 'string' ? parseTemplate(place.value) : undefined;
  if (parsed?.kind !== 'parsed') {
    throw errorAt(place, 'read the event', 'expected a text, with expressions in braces');
  }
  const expressions = expressionsOf(parsed.template);
  if (!canBePattern(parsed.template)) {
    const expected = 'expected a name, "*", or a prefix ending in ".*"';
    throw errorAt(place, `use event ${JSON.stringify(place.value)}`, expected);
  }
  checkVisible(expressions, place, draft);
  return parsed.template;
}

/** Of the callback operation, or else of its path item. */
function ownEvent(holders: readonly RefNode[]): RefNode | undefined {
  return holders.map((holder) => child(holder, 'x-ringback-event')).find(Boolean);
}

/** Whether it is a pattern if its expressions resolve to names. */
function canBePattern(template: Template): boolean {
  return isEventName(template.map((one) => (one.kind === 'text' ? one.text : 'x')).join(''));
}

/** A label is the name of an event, never a wildcard. */
function patternFrom(label: string, item: RefNode): string {
  if (!isEventName(label)) {
    warn(item, `label ${JSON.stringify(label)} ${nameFault}; x-ringback-event sets another`);
  }
  return literalPattern(label);
}

/** Methods whose requests have no body, unless the document declares one. */
const bodiless: readonly string[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS'];

export function compilePayload(
  method: string,
  operation: RefNode,
): Pick<CallbackDefinition, 'mediaType' | 'payload'> {
  const body = child(operation, 'requestBody');
  if (body === undefined && bodiless.includes(method)) {
    return { mediaType: undefined, payload: undefined };
  }
  const content = body && child(body, 'content');
  const json = jsonContent(content);
  if (json === undefined && content !== undefined && entries(content).length > 0) {
    warn(
      content,
      'declares no JSON media type; the payload is sent as JSON anyway, without validation',
    );
  }
  const mediaType = json?.mediaType ?? 'application/json';
  return { mediaType, payload: json?.schema && makeValidator(json.schema, json.place) };
}

function statusName(status: string): string {
  return status === 'default' ? status : status.toUpperCase();
}

/** The nearest place that declares one wins. */
function unsubscribeStatus(places: readonly RefNode[]): number {
  for (const holder of places) {
    const place = child(holder, 'x-ringback-unsubscribe-status');
    if (place === undefined) continue;
    const status = Number(place.value);
    if (Number.isInteger(status) && status >= 200 && status <= 599) return status;
    const found = JSON.stringify(place.value);
    throw errorAt(place, 'read the status', `it is ${found}, expected 200 to 599`);
  }
  return goneStatus;
}

/** The nearest place that says so wins. */
function isFinal(places: readonly RefNode[]): boolean {
  for (const holder of places) {
    const place = child(holder, 'x-ringback-final');
    if (place === undefined) continue;
    if (typeof place.value === 'boolean') return place.value;
    const found = JSON.stringify(place.value);
    throw errorAt(place, 'read x-ringback-final', `it is ${found}, expected true or false`);
  }
  return false;
}
