// Messages to and from a thread, as one flat list. V8's structured clone writes the member names of
// every object and searches all earlier objects for each; and a view ships its whole underlying
// memory, often a pool or a request's body. So members of frequent objects are put into the list
// one by one, in an order that both sides know, and bytes go into one buffer, which is transferred
// to the writer without a copy. That is about ten times as fast as cloning objects, and several
// times as fast as a list per object or a generic packer: docs/performance.md.
import type { Header } from '../../../core/domain/attempt.ts';
import type { Leased } from '../../../core/domain/delivery.ts';
import type {
  Accepted,
  FreshDelivery,
  NewEvent,
  Worked,
  AttemptRecord,
  Settlement,
  Target,
} from '../../port/delivery-verbs.ts';
import type { EditInput, EditVerb } from '../../port/store.ts';
import {
  editCall,
  type Batch,
  type BatchReply,
  type EditCall,
  type EditReply,
  type SettleReply,
} from '../../port/transport-protocol.ts';
import { isWithoutControls, noControls } from '../../../core/domain/controls.ts';

// Packs a batch for the write thread, and its replies for the way back.

export function packBatch({ nowMs, offer, workOffers, settlements, edits }: Batch): Parcel {
  const to = new Packing();
  to.list.push(nowMs, offer);
  packSettlements(to, settlements);
  to.list.push(edits.length);
  for (const { verb, input } of edits) {
    to.list.push(verb);
    if (verb === 'publish') packPublish(to, input);
    else to.list.push(input);
  }
  to.list.push(workOffers);
  return to.parcel();
}

export function unpackBatch(parcel: Parcel): Batch {
  const from = new Unpacking(parcel);
  return {
    nowMs: from.next(),
    offer: from.next(),
    settlements: unpackSettlements(from),
    edits: from.nextFew((): EditCall => {
      const verb = from.next<EditVerb>();
      return verb === 'publish'
        ? { verb, input: unpackPublish(from) }
        : editCall(verb, from.next<EditInput<typeof verb>>());
    }),
    workOffers: from.next(),
  };
}

type Publish = EditInput<'publish'>;

function packPublish(to: Packing, publish: Publish): void {
  const { appNo, contract, audience, trace, idempotency, inbox, notice, events } = publish;
  const isForAll = audience.kind === 'everyone';
  to.list.push(appNo, contract, isForAll ? undefined : audience, trace, inbox, notice);
  to.list.push(idempotency !== undefined);
  if (idempotency !== undefined) {
    to.addBytes(idempotency.key);
    to.addBytes(idempotency.print);
  }
  to.list.push(events.length);
  for (const { id, name, subject, customer, payload, skipped } of events) {
    to.list.push(id, name, subject, customer, skipped);
    to.addBytes(payload);
  }
}

/** Members in the order in which the other side packs them. */
function unpackPublish(from: Unpacking): Publish {
  const publish: Publish = {
    appNo: from.next(),
    contract: from.next(),
    audience: from.next<Publish['audience'] | undefined>() ?? { kind: 'everyone' },
    trace: from.next(),
    idempotency: undefined,
    events: [],
  };
  const inbox = from.next<number | undefined>();
  const notice = from.next<number | undefined>();
  if (inbox !== undefined) publish.inbox = inbox;
  if (notice !== undefined) publish.notice = notice;
  if (from.next<boolean>()) {
    publish.idempotency = { key: from.nextBytes(), print: from.nextBytes() };
  }
  publish.events = from.nextFew((): NewEvent => ({
    id: from.next(),
    name: from.next(),
    subject: from.next(),
    customer: from.next(),
    skipped: from.next(),
    payload: from.nextBytes(),
  }));
  return publish;
}

type Written = Extract<BatchReply, { kind: 'written' }>;

export function packWritten({ settled, edits, fresh, nextWork, worked }: Written): Parcel {
  const to = new Packing();
  to.list.push(nextWork);
  packSettled(to, settled);
  to.list.push(edits.length);
  for (const reply of edits) packEdited(to, reply);
  packFresh(to, fresh);
  to.list.push(worked !== undefined);
  if (worked !== undefined) packWorked(to, worked);
  return to.parcel();
}

export function unpackWritten(parcel: Parcel): Written {
  const from = new Unpacking(parcel);
  return {
    kind: 'written',
    nextWork: from.next(),
    settled: unpackSettled(from),
    edits: from.nextFew(() => unpackEdited(from)),
    fresh: unpackFresh(from),
    worked: from.next<boolean>() ? unpackWorked(from) : undefined,
  };
}

function packFresh(to: Packing, fresh: readonly FreshDelivery[]): void {
  to.list.push(fresh.length);
  for (const { event, n, appNo, lane, callback, version, concurrency } of fresh) {
    to.list.push(event, n, appNo, lane, callback, version, concurrency);
  }
}

function unpackFresh(from: Unpacking): FreshDelivery[] {
  return from.nextFew((): FreshDelivery => ({
    event: from.next(),
    n: from.next(),
    appNo: from.next(),
    lane: from.next(),
    callback: from.next(),
    version: from.next(),
    concurrency: from.next(),
  }));
}

/** An accepted event, as nearly all are, is packed by its members; any other reply as an object. */
function packEdited(to: Packing, reply: EditReply): void {
  const events = acceptedIn(reply);
  to.list.push(events === undefined ? reply : undefined);
  if (events === undefined) return;
  to.list.push(events.length);
  for (const { id, deliveries, skipped } of events) to.list.push(id, deliveries, skipped);
}

function unpackEdited(from: Unpacking): EditReply {
  const reply = from.next<EditReply | undefined>();
  if (reply !== undefined) return reply;
  const events = from.nextFew((): Accepted => {
    const accepted = { id: from.next<string>(), deliveries: from.next<number | undefined>() };
    const skipped = from.next<Accepted['skipped']>();
    return skipped === undefined ? accepted : { ...accepted, skipped };
  });
  return { kind: 'done', output: { kind: 'accepted', events } };
}

function acceptedIn(reply: EditReply): readonly Accepted[] | undefined {
  if (reply.kind !== 'done') return undefined;
  const { output } = reply;
  return 'kind' in output && output.kind === 'accepted' ? output.events : undefined;
}

// Packs the deliveries that a batch claimed or fanned out, on their way back from the write thread.

function packWorked(to: Packing, { claimed, fannedOut, readyMs }: Worked): void {
  const { deliveries, ...rest } = fannedOut;
  to.list.push(readyMs, rest);
  for (const leased of [claimed, deliveries]) {
    to.list.push(leased.length);
    for (const one of leased) packLeased(to, one);
  }
}

/** Members in the order in which the other side packs them. */
function unpackWorked(from: Unpacking): Worked {
  const readyMs = from.next<number | undefined>();
  const rest = from.next<Omit<Worked['fannedOut'], 'deliveries'>>();
  return {
    readyMs,
    claimed: from.nextFew(() => unpackLeased(from)),
    fannedOut: { ...rest, deliveries: from.nextFew(() => unpackLeased(from)) },
  };
}

function packLeased(to: Packing, leased: Leased): void {
  const { event, n, appNo, lane, callback, version, concurrency, lease, tries, attempts } = leased;
  to.list.push(event, n, appNo, lane, callback, version, concurrency, lease, tries, attempts);
  // Not copied into the shared buffer: deliveries of a fan-out share one payload, and a long
  // attempt must not retain those of all others.
  to.list.push(leased.eventName, leased.trace, leased.payload);
}

function unpackLeased(from: Unpacking): Leased {
  return {
    event: from.next(),
    n: from.next(),
    appNo: from.next(),
    lane: from.next(),
    callback: from.next(),
    version: from.next(),
    concurrency: from.next(),
    lease: from.next(),
    tries: from.next(),
    attempts: from.next(),
    eventName: from.next(),
    trace: from.next(),
    payload: from.next(),
  };
}

// Packs outcomes for the write thread, sent with edits or with a claim, and their results.

function packSettlements(to: Packing, settlements: readonly Settlement[]): void {
  to.list.push(settlements.length);
  for (const { event, n, lease, finals, outcome, attempt } of settlements) {
    const isDelivered = outcome.kind === 'delivered';
    to.list.push(event, n, lease, finals, isDelivered ? undefined : outcome, attempt !== undefined);
    if (attempt !== undefined) packAttempt(to, attempt);
  }
}

/** Members in the order in which the other side packs them, here and below. */
function unpackSettlements(from: Unpacking): Settlement[] {
  return from.nextFew((): Settlement => ({
    event: from.next(),
    n: from.next(),
    lease: from.next(),
    ...finalsFrom(from.next()),
    outcome: from.next<Settlement['outcome'] | undefined>() ?? { kind: 'delivered' },
    attempt: from.next<boolean>() ? unpackAttempt(from) : undefined,
  }));
}

function finalsFrom(finals: Settlement['finals']): Pick<Settlement, 'finals'> {
  return finals === undefined ? {} : { finals };
}

function packAttempt(to: Packing, attempt: AttemptRecord): void {
  const { node, startedMs, tookMs, status, error, message, warning, request, response } = attempt;
  to.list.push(node, startedMs, tookMs, status, error, message, warning);
  to.list.push(request.method, request.url, response !== undefined);
  if (response === undefined) return;
  to.list.push(response.cut, response.headers.length);
  for (const [name, value] of response.headers) to.list.push(name, value);
  to.addBytes(response.body);
}

function unpackAttempt(from: Unpacking): AttemptRecord {
  return {
    node: from.next(),
    startedMs: from.next(),
    tookMs: from.next(),
    status: from.next(),
    error: from.next(),
    message: from.next(),
    warning: from.next(),
    request: { method: from.next(), url: from.next() },
    response: from.next<boolean>() ? unpackResponse(from) : undefined,
  };
}

function unpackResponse(from: Unpacking): AttemptRecord['response'] {
  return {
    cut: from.next(),
    headers: from.nextFew((): Header => [from.next(), from.next()]),
    body: from.nextBytes(),
  };
}

/**
 * A settled outcome, as nearly all are, is packed as the concurrency of its lane; any other reply
 * as an object.
 */
function packSettled(to: Packing, replies: readonly SettleReply[]): void {
  to.list.push(replies.length);
  for (const reply of replies) {
    const settled =
      reply.kind === 'done' && reply.output.kind === 'settled' ? reply.output : undefined;
    to.list.push(settled === undefined ? reply : settled.concurrency);
  }
}

function unpackSettled(from: Unpacking): SettleReply[] {
  return from.nextFew((): SettleReply => {
    const said = from.next<SettleReply | number | undefined>();
    if (typeof said === 'object') return said;
    const output = said === undefined ? {} : { concurrency: said };
    return { kind: 'done', output: { kind: 'settled', ...output } };
  });
}

// The list and the buffer of a message, written and read in one order.

export interface Parcel {
  readonly list: readonly unknown[];
  readonly bytes: ArrayBuffer;
}

export class Packing {
  /** Anything that can be cloned; strings, numbers and undefined are the fastest. */
  readonly list: unknown[] = [];
  readonly #views: Uint8Array[] = [];
  #size = 0;

  addBytes(view: Uint8Array): void {
    this.list.push(this.#size, view.byteLength);
    this.#views.push(view);
    this.#size += view.byteLength;
  }

  parcel(): Parcel {
    const bytes = new ArrayBuffer(this.#size);
    const whole = new Uint8Array(bytes);
    let at = 0;
    for (const view of this.#views) {
      whole.set(view, at);
      at += view.byteLength;
    }
    return { list: this.list, bytes };
  }
}

export class Unpacking {
  readonly #list: readonly unknown[];
  readonly #bytes: ArrayBuffer;
  #at = 0;

  constructor({ list, bytes }: Parcel) {
    this.#list = list;
    this.#bytes = bytes;
  }

  /** Returns what was packed at this place; the caller must name the same type. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is what an assertion is
  next<T>(): T {
    const item = this.#list[this.#at];
    this.#at += 1;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place; both sides are in one file
    return item as T;
  }

  nextBytes(): Uint8Array {
    const at = this.next<number>();
    return new Uint8Array(this.#bytes, at, this.next<number>());
  }

  /** Reads a count, then as many items. */
  nextFew<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.next<number>(); left > 0; left -= 1) items.push(read());
    return items;
  }
}

// Packs targets on their way back from the read thread: each delivery of a large fan-out reads
// another one.

export function packTargets(targets: readonly Target[]): Parcel {
  const to = new Packing();
  to.list.push(targets.length);
  for (const target of targets) {
    const { callback, lane, version, isActive, subscription, appNo, appId } = target;
    const { contract, operation, definition, method, url, secrets, controls, headers } = target;
    to.list.push(callback, lane, version, isActive, subscription, appNo, appId);
    to.list.push(contract, operation, definition, method, url);
    to.addBytes(secrets);
    to.list.push(isWithoutControls(controls) ? undefined : controls, headers !== undefined);
    if (headers !== undefined) to.addBytes(headers);
  }
  return to.parcel();
}

/** Members in the order in which the other side packs them. */
export function unpackTargets(parcel: Parcel): Target[] {
  const from = new Unpacking(parcel);
  return from.nextFew((): Target => ({
    callback: from.next(),
    lane: from.next(),
    version: from.next(),
    isActive: from.next(),
    subscription: from.next(),
    appNo: from.next(),
    appId: from.next(),
    contract: from.next(),
    operation: from.next(),
    definition: from.next(),
    method: from.next(),
    url: from.next(),
    // Copies: a target is cached for long, and must not retain the bytes of all others.
    secrets: from.nextBytes().slice(),
    controls: from.next<Target['controls'] | undefined>() ?? noControls,
    headers: from.next<boolean>() ? from.nextBytes().slice() : undefined,
  }));
}
