// The settings that a subscription overrides: read from a subscribe call, and merged with those it
// had.
import { controlsProperty } from '../../contract/compile/compile.ts';
import type { Message } from '../../contract/expression/evaluate.ts';
import type { Operation } from '../../contract/model/contract.ts';
import type { App } from '../../core/domain/app.ts';
import type { DeclaredHeader } from '../../core/domain/callback-headers.ts';
import { noControls, type Controls } from '../../core/domain/controls.ts';
import {
  noChoice,
  readChoice,
  readPatterns,
  type Choice,
} from '../../core/domain/read-controls.ts';
import type { Callback, Subscription } from '../../core/domain/subscription.ts';
import { invalidRequest, type Fault, type Problem } from '../../core/errors/problem.ts';
import type { Context } from '../context.ts';
import { openHeaders, sealHeaders } from '../targets/secrets.ts';

export interface SubscribeChoice extends Choice {
  /** Event patterns for callbacks that would otherwise match every event. */
  events: readonly string[] | undefined;
}

const place = `body#/${controlsProperty}`;

/** From the body of a subscribe call, if its operation takes overrides. */
export function chosenAtSubscribe({ role }: Operation, { body }: Message): SubscribeChoice {
  const given = role.kind === 'subscribe' && role.takesControls ? memberOf(body) : undefined;
  // Null counts as absent.
  if ((given ?? undefined) === undefined) return { ...noChoice, events: undefined };
  if (!isObject(given)) {
    const message = 'is not an object, expected settings of the subscription';
    throw invalidRequest([{ field: place, message }]);
  }
  const { events, ...rest } = given;
  const faults: Fault[] = [];
  const choice = readChoice(rest, place);
  if (choice.kind === 'faulty') faults.push(...choice.faults);
  const patterns = (events ?? undefined) === undefined ? undefined : readPatterns(events, inEvents);
  if (patterns?.kind === 'faulty') faults.push(...patterns.faults);
  if (choice.kind === 'faulty' || patterns?.kind === 'faulty') throw invalidRequest(faults);
  return { ...choice.choice, events: patterns?.patterns };
}

/** Its own expiry comes first. */
export function withExpiry<T extends Choice>(choice: T, expiresMs: number | undefined): T {
  const { controls } = choice;
  if (expiresMs === undefined || controls.expiresMs !== undefined) return choice;
  return { ...choice, controls: { ...controls, expiresMs } };
}

const inEvents = `${place}/events`;

/**
 * Callbacks that match every event get these patterns instead; the others keep those of the
 * contract.
 */
export function narrow(
  callbacks: readonly Callback[],
  events: readonly string[] | undefined,
): readonly Callback[] {
  if (events === undefined) return callbacks;
  if (!callbacks.some(matchesAll)) {
    const matched = callbacks.flatMap((one) => one.events).join(', ');
    const message =
      `cannot restrict the events of this callback: it matches ${matched}, expected callbacks ` +
      'that match *';
    throw invalidRequest([{ field: inEvents, message }]);
  }
  return callbacks.map((one) => narrowed(one, events));
}

/** A callback that matches every event, with these patterns instead. */
export function narrowed(callback: Callback, events: readonly string[] | undefined): Callback {
  return events !== undefined && matchesAll(callback) ? { ...callback, events } : callback;
}

function matchesAll({ events }: Callback): boolean {
  return events.includes('*');
}

export interface Chosen {
  controls: Controls;
  headers: Uint8Array | undefined;
}

interface Choosing {
  app: Pick<App, 'id'>;
  subscriptionId: string;
  choice: Choice;
  /** At subscribe: the headers that the document declares. */
  declared?: readonly DeclaredHeader[];
  /** The previous settings. */
  before?: Chosen;
}

/** The complete settings after the change; undefined if nothing changes. */
export function choose(
  context: Pick<Context, 'ring' | 'world'>,
  { app, subscriptionId, choice, declared = [], before }: Choosing,
): Chosen | undefined {
  const { controls, headers } = choice;
  const hasHeaders = headers !== undefined || declared.length > 0;
  if (!hasHeaders && Object.keys(controls).length === 0) return undefined;
  const owner = { appId: app.id, subscriptionId };
  const all = { ...(before?.controls ?? noControls), ...controls };
  if (!hasHeaders) return { controls: all, headers: before?.headers };
  const kept = openHeaders(context.ring, owner, before?.headers);
  const wanted = { own: headers ?? kept.own, declared: [...kept.declared, ...declared] };
  return { controls: all, headers: sealHeaders(context, owner, wanted) };
}

/** Lets the expirer know when the subscription ends by itself. */
export function announceExpiry(
  { expires }: Context,
  { controls, confirmByMs }: Subscription,
): void {
  if (controls.expiresMs !== undefined) expires(controls.expiresMs);
  if (confirmByMs !== undefined) expires(confirmByMs);
}

/** The requested expiry time is in the past. */
export function expired(where: 'patch' | 'subscribe'): Problem {
  const field = `${where === 'patch' ? 'body#' : place}/expiresAt`;
  return invalidRequest([{ field, message: 'is in the past, expected a future time' }]);
}

function memberOf(body: unknown): unknown {
  if (!isObject(body) || !Object.hasOwn(body, controlsProperty)) return undefined;
  return body[controlsProperty];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
