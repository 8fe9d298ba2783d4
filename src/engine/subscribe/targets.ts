// Callback targets of a subscribe call: from the contract's expressions and the request to URLs
// that the guard accepts. All faults are collected, so that a caller sees them at once.
import {
  evaluate,
  resolve,
  type ExpressionInput,
  type Message,
} from '../../contract/expression/evaluate.ts';
import type { Expression } from '../../contract/expression/expression.ts';
import {
  buildTargets,
  fillEvent,
  withQuery,
  type Target,
} from '../../contract/expression/target.ts';
import { expressionsOf, type Template } from '../../contract/expression/template.ts';
import type { CallbackDefinition } from '../../contract/model/contract.ts';
import { fieldOf } from '../../contract/model/variants.ts';
import type { DeclaredHeader } from '../../core/domain/callback-headers.ts';
import { isEventName, literalPattern, nameFault } from '../../core/domain/pattern.ts';
import type { Callback } from '../../core/domain/subscription.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { showUrl } from '../../core/secrets/redact.ts';
import type { Guard } from '../../egress/guard/guard.ts';
import { makeAdditions } from './additions.ts';

/**
 * The callbacks to register, inactive ones included; none if the request leaves out URLs that are
 * optional. Throws if none can be active for another reason.
 */
export async function makeCallbacks(
  definitions: readonly CallbackDefinition[],
  exchange: Omit<ExpressionInput, 'method'>,
  deps: TargetDeps,
): Promise<MadeCallbacks> {
  const { callbacks, headers, faults } = await findTargets(definitions, exchange, deps);
  if (faults.length > 0) throw targetRefused(faults);
  if (callbacks.every(({ inactive }) => inactive !== undefined)) {
    if (omitsOptionalTargets(definitions, exchange)) return { callbacks: [], headers: [] };
    const reasons = callbacks.map(({ label, inactive }) => `${label}: ${inactive}`).join('; ');
    throw new Problem(
      'no_callback',
      `No callback target can be made: ${reasons || 'none declared'}`,
    );
  }
  return { callbacks, headers };
}

export interface TargetDeps {
  guard: Guard;
  nowMs: number;
}

export interface MadeCallbacks {
  callbacks: Callback[];
  /** What the document adds to the requests of the active ones. */
  headers: readonly DeclaredHeader[];
}

/** The callbacks of an exchange, even if all are inactive, and the faults of URLs that were refused. */
export async function findTargets(
  definitions: readonly CallbackDefinition[],
  exchange: Omit<ExpressionInput, 'method'>,
  { guard, nowMs }: TargetDeps,
): Promise<MadeCallbacks & { faults: Fault[] }> {
  const drafts = definitions.flatMap((definition) => draft(definition, exchange, nowMs));
  if (drafts.length > limits.callbacksPerSubscriptionMax) {
    const most = limits.callbacksPerSubscriptionMax;
    throw new Problem(
      'no_callback',
      `The request creates ${drafts.length} callbacks, expected at most ${most}`,
    );
  }
  const faults: Fault[] = [];
  const callbacks = await Promise.all(
    drafts.map(async (it, position) => vetDraft(it, { position, guard, faults })),
  );
  const active = new Set(
    callbacks.flatMap((one) => (one.inactive === undefined ? [one.definition] : [])),
  );
  const headers = new Set(drafts.flatMap((one) => one.headers));
  const kept = [...headers].filter(({ callback }) => active.has(callback));
  return { callbacks, headers: kept.map((one) => boundTo(callbacks, one)), faults };
}

export function targetRefused(faults: readonly Fault[]): Problem {
  return new Problem('target_refused', faults[0]?.message ?? '', { faults });
}

/** A credential is for the receivers that the request names beside it. */
function boundTo(callbacks: readonly Callback[], header: DeclaredHeader): DeclaredHeader {
  if (header.origins === undefined) return header;
  const own = callbacks.filter(
    (one) => one.definition === header.callback && one.inactive === undefined,
  );
  return { ...header, origins: [...new Set(own.map(({ url }) => new URL(url).origin))] };
}

/** Whether each callback that could be active lacks an optional value. */
function omitsOptionalTargets(
  definitions: readonly CallbackDefinition[],
  { request }: Omit<ExpressionInput, 'method'>,
): boolean {
  const possible = definitions.filter(({ target }) => target !== undefined);
  return (
    possible.length > 0 &&
    possible.every(({ isOptional, target = [] }) => {
      const sources = expressionsOf(target).filter(
        (one) => 'from' in one && one.from === 'request',
      );
      return isOptional && sources.some((one) => isAbsent(one, request));
    })
  );
}

/** Null where the schema allows it says the same as no value. */
export function isAbsent(source: Expression, request: Message): boolean {
  const resolved = resolve(source, { url: '', method: '', request });
  return resolved.kind === 'unresolved' || (resolved.kind === 'found' && resolved.value === null);
}

interface Draft {
  definition: CallbackDefinition;
  event: string;
  target: Target;
  field: string;
  headers: readonly DeclaredHeader[];
}

/** One draft, or one per URL if the key is a list. */
function draft(
  definition: CallbackDefinition,
  exchange: Omit<ExpressionInput, 'method'>,
  nowMs: number,
): Draft[] {
  const seen: ExpressionInput = { ...exchange, method: definition.method };
  const event = eventOf(definition.event, seen);
  const none = { definition, event, field: '', headers: [] };
  if (definition.target === undefined) {
    const reason = definition.inactive ?? 'its key is not a runtime expression';
    return [{ ...none, target: { kind: 'unresolved', reason } }];
  }
  const [first] = expressionsOf(definition.target);
  const field = first === undefined ? '' : fieldOf(first);
  const targets = buildTargets(definition.target, seen);
  if (!targets.some(({ kind }) => kind === 'url')) {
    return targets.map((target) => ({ ...none, field, target }));
  }
  const { headers, query, missing } = makeAdditions(definition, seen, nowMs);
  if (missing !== undefined) {
    return [{ ...none, field, target: { kind: 'unresolved', reason: missing } }];
  }
  return targets.map((target) => ({ ...none, field, headers, target: withQuery(target, query) }));
}

/**
 * The event pattern of a callback: literal text, or text built from the request. A value of the
 * request never makes a wildcard: only text of the document does.
 */
function eventOf(template: Template, exchange: ExpressionInput): string {
  let event = '';
  for (const part of template) {
    if (part.kind === 'text') {
      event += part.text;
      continue;
    }
    const value = evaluate(part.expression, exchange);
    if (value.kind !== 'value') {
      const reason = value.kind === 'unresolved' ? value.reason : 'it is not a single string';
      throw eventProblem(part.expression, `Cannot determine the event of the callback: ${reason}`);
    }
    event += value.text;
  }
  if (isEventName(event)) return isPattern(template) ? event : literalPattern(event);
  throw eventProblem(
    expressionsOf(template)[0],
    `Cannot subscribe to event ${JSON.stringify(event)}: it ${nameFault}`,
  );
}

/** Whether the end, which can make it a wildcard, is text of the document. */
function isPattern(template: Template): boolean {
  const last = template.at(-1);
  return last?.kind === 'text' && (template.length === 1 || last.text.endsWith('.*'));
}

function eventProblem(expression: Expression | undefined, message: string): Problem {
  const faults = expression === undefined ? [] : [{ field: fieldOf(expression), message }];
  return new Problem('invalid_request', message, { faults });
}

interface Settling {
  position: number;
  guard: Guard;
  faults: Fault[];
}

async function vetDraft(it: Draft, { position, guard, faults }: Settling): Promise<Callback> {
  const { definition, event, target, field } = it;
  const { id, label, method } = definition;
  const callback = { position, label, events: [event], definition: id, method };
  if (target.kind === 'unresolved') return { ...callback, url: '', inactive: target.reason };
  const accepted =
    target.kind === 'refused'
      ? { kind: target.kind, message: target.reason }
      : await acceptUrl(target.url, guard);
  if (accepted.kind === 'refused') {
    faults.push({ field, message: accepted.message });
    return { ...callback, url: '', inactive: accepted.message };
  }
  return { ...callback, url: accepted.url, inactive: undefined };
}

type UrlAcceptance = { kind: 'accepted'; url: string } | { kind: 'refused'; message: string };

/** Stands in for the event name while a URL with such a placeholder is checked. */
const standIn = 'ringback-event-type';

/**
 * Checks a target URL and returns its canonical form. A host name that cannot be resolved right now
 * is accepted, because every attempt checks it again; one that does not exist is refused.
 */
export async function acceptUrl(url: string, guard: Guard): Promise<UrlAcceptance> {
  const reading = guard.read(fillEvent(url, standIn));
  if (reading.kind === 'refused') return { kind: 'refused', message: reading.message };
  const { host, href } = reading.url;
  if ('name' in host && host.name.includes(standIn)) {
    const reason = 'host contains the event name, expected it after the host';
    return { kind: 'refused', message: `Cannot accept callback URL "${showUrl(url)}": ${reason}` };
  }
  const verdict = await guard.vet(reading.url);
  if (
    verdict.kind === 'refused' ||
    (verdict.kind === 'unresolved' && verdict.reason === 'missing')
  ) {
    return { kind: 'refused', message: verdict.message };
  }
  return {
    kind: 'accepted',
    url: url.includes('{') ? href.replaceAll(standIn, '{eventType}') : href,
  };
}
