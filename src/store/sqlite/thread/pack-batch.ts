// Packs a batch for the write thread, and its replies for the way back.
import { strict as assert } from 'node:assert';
import type { Batch, BatchReply, EditCall, EditReply } from '../../port/transport-protocol.ts';
import { editCall } from '../../port/transport-protocol.ts';
import type { Accepted, Born } from '../../port/delivery-verbs.ts';
import type { EditInput, EditVerb } from '../../port/store.ts';
import { packSettled, packSettlements, unpackSettled, unpackSettlements } from './pack-outcomes.ts';
import { packWorked, unpackWorked } from './pack-work.ts';
import { Packing, Unpacking, type Parcel } from './flat-codec.ts';

export function packBatch({ nowMs, offer, takeUp, settlements, edits }: Batch): Parcel {
  const to = new Packing();
  to.list.push(nowMs, offer);
  packSettlements(to, settlements);
  to.list.push(edits.length);
  for (const { verb, input } of edits) {
    to.list.push(verb);
    if (verb === 'publish') packPublish(to, input);
    else to.list.push(input);
  }
  to.list.push(takeUp);
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
    takeUp: from.next(),
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
  for (const { id, name, payload } of events) {
    to.list.push(id, name);
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
  publish.events = from.nextFew(() => ({
    id: from.next(),
    name: from.next(),
    payload: from.nextBytes(),
  }));
  return publish;
}

type Written = Extract<BatchReply, { kind: 'written' }>;

export function packForetold(born: readonly Born[]): Parcel {
  const to = new Packing();
  packBorn(to, born);
  return to.parcel();
}

export function unpackForetold(parcel: Parcel): Born[] {
  return unpackBorn(new Unpacking(parcel));
}

/** `foretold`: the deliveries that were announced before; they are not sent twice. */
export function packWritten(
  { settled, edits, born, outlook, worked }: Written,
  foretold?: readonly Born[],
): Parcel {
  const to = new Packing();
  to.list.push(outlook);
  packSettled(to, settled);
  to.list.push(edits.length);
  for (const reply of edits) packEdited(to, reply);
  to.list.push(born === foretold);
  if (born !== foretold) packBorn(to, born);
  to.list.push(worked !== undefined);
  if (worked !== undefined) packWorked(to, worked);
  return to.parcel();
}

export function unpackWritten(parcel: Parcel, foretold?: readonly Born[]): Written {
  const from = new Unpacking(parcel);
  const before = (): readonly Born[] => {
    assert(foretold !== undefined, 'What was foretold has come before');
    return foretold;
  };
  return {
    kind: 'written',
    outlook: from.next(),
    settled: unpackSettled(from),
    edits: from.nextFew(() => unpackEdited(from)),
    born: from.next<boolean>() ? before() : unpackBorn(from),
    worked: from.next<boolean>() ? unpackWorked(from) : undefined,
  };
}

function packBorn(to: Packing, born: readonly Born[]): void {
  to.list.push(born.length);
  for (const { event, n, appNo, lane, callback, version, concurrency } of born) {
    to.list.push(event, n, appNo, lane, callback, version, concurrency);
  }
}

function unpackBorn(from: Unpacking): Born[] {
  return from.nextFew((): Born => ({
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
  for (const { id, deliveries } of events) to.list.push(id, deliveries);
}

function unpackEdited(from: Unpacking): EditReply {
  const reply = from.next<EditReply | undefined>();
  if (reply !== undefined) return reply;
  const events = from.nextFew((): Accepted => ({ id: from.next(), deliveries: from.next() }));
  return { kind: 'done', output: { kind: 'accepted', events } };
}

function acceptedIn(reply: EditReply): readonly Accepted[] | undefined {
  if (reply.kind !== 'done') return undefined;
  const { output } = reply;
  return 'kind' in output && output.kind === 'accepted' ? output.events : undefined;
}
