// Publish: checks events against the contract and writes them with their deliveries in one
// transaction. A 2xx means that they are on disk. The payload's bytes are never changed.
import { customerOf, isVisible, type Actor, type App } from '../../core/domain/app.ts';
import { pingEvent } from '../../core/domain/event.ts';
import { refuseLoop, withHops } from '../../core/domain/hops.ts';
import { readId, withoutPrefix, withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { whenReady, type MaybePromise } from '../../core/base/maybe-promise.ts';
import { patternsFor } from '../../core/domain/pattern.ts';
import { lacksSubject } from '../../core/domain/subscription.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import { printTrace, type TraceContext } from '../../core/telemetry/trace.ts';
import { bounds } from '../../contract/document/bounds.ts';
import { faultsFor } from '../../contract/request/payload.ts';
import type { Accepted, Audience } from '../../store/port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../store/port/store.ts';
import type { Context } from '../context.ts';
import type { Declarer } from './event-types.ts';
import { confirmSubscription, type ConfirmDeps } from './confirm.ts';
import { idempotencyMismatch, idempotencyOf, type KeyedRequest } from './idempotency.ts';
import { StoreTimedOut } from '../store-timeout.ts';
import {
  toFault,
  validateEvents,
  validateEventsInTurns,
  type AppRules,
  type Fit,
  type NewEvent,
  type PublishRules,
} from './validate-events.ts';
import type { RateHeaders } from '../admission/quotas.ts';

export interface PublishCall {
  app: Actor & Pick<App, 'quotas'> & Declarer;
  /** The title, if the publisher names a contract. */
  contract: string | undefined;
  events: readonly NewEvent[];
  /** Addresses a single subscription, by its external id. */
  subscriberId: string | undefined;
  /** Reaches subscriptions of any subject. */
  isForAll?: boolean;
  idempotency: KeyedRequest | undefined;
  /** The publisher's position in a trace. */
  trace?: TraceContext | undefined;
  /** The length of the chain of callbacks that led to this publish. */
  hops: number;
}

export interface Published {
  events: readonly Accepted[];
  /** Faults of accepted payloads, in lenient mode. */
  warnings: readonly Fault[];
  /** The state of the app's rate limit. */
  rate: RateHeaders;
}

export async function publish(
  context: Context,
  general: PublishRules,
  call: PublishCall,
): Promise<Published> {
  const { app, hops } = call;
  const events = ownEvents(call);
  refuseLoop(hops);
  refuseContradiction(call);
  refuseLarge(events, context.quotas.of(app).payloadBytes);
  const applied = rulesFor(general, app, events);
  const rules = applied instanceof Promise ? await applied : applied;
  const isLarge = events.length > limits.eventsCheckedAtOnce;
  const validation = isLarge
    ? await validateEventsInTurns(rules, events, call.contract)
    : validateEvents(rules, events, call.contract);
  if (validation.kind === 'refused') throw validation.problem;
  const audience = audienceOf(call);
  if (audience.kind === 'subscription' && app.customer !== undefined) {
    const found = await context.store.read('subscription', { appNo: app.no, id: audience.id });
    if (found === undefined || !isVisible(app, found)) throw notFound(call.subscriberId ?? '');
  }
  const { skipped: skips } = validation;
  // Nearly always undefined, and then the publish does not wait here.
  const misfits = skips && (await misfitsOf(context, { call, audience, validation, skips }));
  if (misfits !== undefined && !rules.isLenient) refuseMisfits(misfits, call);
  const input = {
    appNo: app.no,
    contract: validation.contract.title,
    events: events.map((event) => {
      const { name, subject, customer, payload } = event;
      const skipped = misfits?.has(event) === true ? undefined : skips?.get(event);
      return { id: context.newId(), name, subject, customer, payload, skipped };
    }),
    audience,
    trace: withHops(hops, call.trace && printTrace(call.trace)),
    idempotency: call.idempotency && idempotencyOf(call.idempotency, app),
  };
  const { accepted, rate } = await writeWithin(context, app, input, events);
  const faults = [...validation.warnings, ...(misfits?.values() ?? [])].flat();
  const warnings = faults.slice(0, bounds.faultsMax);
  return { events: accepted, warnings, rate };
}

/** The events of a customer's key are for this customer. */
function ownEvents({ app, events }: PublishCall): readonly NewEvent[] {
  if (app.customer === undefined) return events;
  return events.map((event) => ({
    ...event,
    customer: customerOf(app, event.customer, `${event.at}/customer`),
  }));
}

/** With what the app declares of these events. Synchronous, as nearly always, if that is cached. */
export function rulesFor(
  rules: PublishRules,
  app: Declarer,
  events: readonly Pick<NewEvent, 'name'>[],
): MaybePromise<AppRules> {
  const { types } = rules;
  if (types === undefined) return rules;
  return whenReady(types.declared(app, events), (declared) =>
    declared === undefined ? rules : { ...rules, declared },
  );
}

interface Addressing {
  call: PublishCall;
  audience: Audience;
  validation: Fit;
  skips: NonNullable<Fit['skipped']>;
}

/** By event: why its payload fits no callback of the addressed subscription. */
type Misfits = ReadonlyMap<NewEvent, readonly Fault[]>;

/**
 * Events that would skip every callback of the addressed subscription that matches them: their payloads fit callbacks
 * of others only, so nothing would be sent.
 */
async function misfitsOf(
  { store }: Context,
  { call, audience, validation: { contract }, skips }: Addressing,
): Promise<Misfits> {
  const misfits = new Map<NewEvent, readonly Fault[]>();
  if (audience.kind !== 'subscription') return misfits;
  const found = await store.read('subscription', { appNo: call.app.no, id: audience.id });
  if (found === undefined || found.contract !== contract.title) return misfits;
  const { operation } = found;
  for (const [event, callbacks] of skips) {
    const isOther =
      (event.subject !== undefined && event.subject !== found.subject && !lacksSubject(found)) ||
      (event.customer !== undefined && event.customer !== found.customer);
    const patterns = patternsFor(event.name);
    const definitions = found.callbacks
      .filter(
        ({ inactive, events }) =>
          inactive === undefined && events.some((one) => patterns.includes(one)),
      )
      .map(({ definition }) => definition);
    const isSkipped = (definition: string): boolean =>
      callbacks.some((one) => one.operation === operation && one.definition === definition);
    const isReached = definitions.length === 0 || !definitions.every(isSkipped);
    if (isReached || isOther) continue;
    const faults = faultsFor(contract, { operation, definitions }, event.value);
    misfits.set(
      event,
      faults.map((fault) => toFault(fault, event.at)),
    );
  }
  return misfits;
}

function refuseMisfits(misfits: Misfits, { subscriberId }: PublishCall): void {
  const [event] = misfits.keys();
  if (event === undefined) return;
  const faults = [...misfits.values()].flat().slice(0, bounds.faultsMax);
  const [first] = faults;
  const detail =
    `The payload fits other callbacks of event "${event.name}", but none of ${subscriberId}: ` +
    `${first?.field} ${first?.message}`;
  throw new Problem('payload_refused', detail, { faults });
}

/** All subscriptions are more than one subscription, or those of one subject. */
function refuseContradiction({ events, subscriberId, isForAll = false }: PublishCall): void {
  if (!isForAll) return;
  const named = events.find(({ subject }) => subject !== undefined);
  const [field, other] =
    named === undefined ? ['body#/audience', 'subscriberId'] : [`${named.at}/subject`, 'audience'];
  if (named === undefined && subscriberId === undefined) return;
  const message = `contradicts ${other}, expected only one of the two`;
  throw new Problem('audience_conflict', `Cannot publish: ${field} ${message}`, {
    faults: [{ field, message }],
  });
}

function refuseLarge(events: readonly NewEvent[], bytesMax: number | undefined): void {
  const large = events.find(({ payload }) => payload.byteLength > (bytesMax ?? Infinity));
  if (large === undefined) return;
  const fault = largeFault(large.payload, bytesMax);
  throw new Problem(
    'body_too_large',
    `Cannot publish event "${large.name}": its payload ${fault}`,
    {
      faults: [{ field: `${large.at}/payload`, message: fault }],
    },
  );
}

/** Describes a payload that exceeds the quota of its app. */
export function largeFault({ byteLength }: Uint8Array, bytesMax: number | undefined): string {
  return `has ${byteLength} bytes, the app's quota is ${bytesMax}`;
}

/** Sends a test message to every callback of a subscription, whatever events it matches. */
export async function ping(
  context: Context,
  app: Pick<App, 'no' | 'quotas'>,
  { id, contract, hops }: { id: string; contract: string; hops: number },
): Promise<Accepted | undefined> {
  refuseLoop(hops);
  const bare = withoutPrefix('sub', id);
  if (bare === undefined) throw notFound(id);
  const payload = Buffer.from(JSON.stringify({ message: 'This is a test message from Ringback.' }));
  const { accepted } = await writeWithin(context, app, {
    appNo: app.no,
    contract,
    events: [{ id: context.newId(), name: pingEvent, payload }],
    audience: { kind: 'all_callbacks', id: bare },
    trace: withHops(hops, undefined),
    idempotency: undefined,
  });
  return accepted[0];
}

/**
 * Publishes within the app's quota. A failed publish uses nothing of it, so that a retry is
 * admitted.
 */
async function writeWithin(
  context: Context,
  app: Pick<App, 'no' | 'quotas'>,
  input: EditInput<'publish'>,
  asked: readonly NewEvent[] = [],
): Promise<{ accepted: readonly Accepted[]; rate: RateHeaders }> {
  const { quotas, changes } = context;
  const spent = quotas.spend(app, input.events.length);
  const rate = spent instanceof Promise ? await spent : spent;
  try {
    const result = await publishConfirming(context, input);
    const accepted = acceptedBy(result, input, asked);
    if (result.kind === 'accepted') changes.published(input.appNo, accepted);
    return { accepted, rate };
  } catch (error) {
    quotas.giveBack(app, input.events.length);
    const mayHappen = error instanceof StoreTimedOut && error.mayHappen;
    throw mayHappen && input.idempotency === undefined ? inDoubt(error) : error;
  }
}

/**
 * A publish that names an unconfirmed subscription proves that its request was accepted, so it is confirmed first. If it
 * names the subject as well, that becomes the subject of the subscription. A ping proves nothing.
 */
export async function publishConfirming(
  context: ConfirmDeps,
  input: EditInput<'publish'>,
): Promise<EditOutput<'publish'>> {
  const { appNo, audience, events } = input;
  const [subject, ...others] = new Set(events.map((event) => event.subject));
  const named = others.length === 0 ? { appNo, subject } : { appNo };
  for (;;) {
    const result = await context.store.edit('publish', input);
    if (result.kind !== 'unconfirmed' || audience.kind === 'all_callbacks') return result;
    await Promise.all(result.ids.map(async (id) => confirmSubscription(context, { ...named, id })));
  }
}

function acceptedBy(
  result: EditOutput<'publish'>,
  { audience, events }: EditInput<'publish'>,
  asked: readonly NewEvent[],
): readonly Accepted[] {
  switch (result.kind) {
    case 'accepted':
    case 'repeated':
      return result.events;
    case 'mismatch':
      throw idempotencyMismatch();
    case 'taken':
      throw new Error('Cannot publish: an event that is not of the inbox was taken from there');
    case 'not_found':
      throw notFound('id' in audience ? withPrefix('sub', audience.id) : '');
    case 'unconfirmed':
      throw new Problem('conflict', 'Cannot send a test message: the subscription is unconfirmed');
    case 'subject_missing':
      throw subjectMissing(asked[events.findIndex(({ id }) => id === result.event)]);
  }
}

function audienceOf({ subscriberId, isForAll = false }: PublishCall): Audience {
  if (isForAll) return { kind: 'any_subject' };
  if (subscriberId === undefined) return { kind: 'everyone' };
  const id = readId('sub', subscriberId);
  if (id === undefined) throw notFound(subscriberId);
  return { kind: 'subscription', id };
}

function subjectMissing(event: NewEvent | undefined): Problem {
  const { name = '', at = 'body#' } = event ?? {};
  const detail = `${lacksSubjectOf(name)}, or send "audience": "all" to reach every subscription`;
  return new Problem('subject_missing', detail, {
    faults: [{ field: `${at}/subject`, message: 'is missing, expected the subject of the event' }],
  });
}

/** Why an event is refused, and what to do: the same over HTTP and by SQL. */
export function lacksSubjectOf(name: string): string {
  const reason = 'subscriptions to it have a subject, and the event names none';
  return `Cannot publish event "${name}": ${reason}. Name its subject`;
}

/** Without an idempotency key, a repetition looks like a second event. */
function inDoubt(cause: StoreTimedOut): Problem {
  const detail =
    'The store did not respond in time. The event may have been accepted: without an ' +
    'Idempotency-Key, publishing it again may deliver it twice. With one, repeating is ' +
    'safe';
  return new Problem('store_unavailable', detail, { cause });
}

function notFound(id: string): Problem {
  const message = `There is no active subscription ${JSON.stringify(id)}`;
  return new Problem('not_found', message, {
    faults: [{ field: 'body#/subscriberId', message: 'names no active subscription' }],
  });
}
