import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Batch, BatchReply } from '../../port/transport-protocol.ts';
import type { Settlement } from '../../port/delivery-verbs.ts';
import type { EditInput } from '../../port/store.ts';
import { packBatch, packWritten, unpackBatch, unpackWritten, type Parcel } from './codec.ts';

/** Transfers packed bytes as to a thread. */
function sent(parcel: Parcel): Parcel {
  return structuredClone(parcel, { transfer: [parcel.bytes] });
}

const pool = Buffer.from('0123456789');

/** What few events have; a message has a place for each. */
const unnamed = { subject: undefined, customer: undefined, skipped: undefined };

function publish(about: Partial<EditInput<'publish'>>): Batch['edits'][number] {
  const input: EditInput<'publish'> = {
    appNo: 1,
    contract: 'Ringback',
    events: [{ id: 'e0', name: 'a', ...unnamed, payload: bytes('payload') }],
    audience: { kind: 'everyone' },
    trace: undefined,
    idempotency: undefined,
    ...about,
  };
  return { verb: 'publish', input };
}

/** The form in which bytes arrive: no Buffer, no view of a pool. */
function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const outcome: Settlement = {
  event: 'e9',
  n: 1,
  lease: 7,
  outcome: { kind: 'delivered' },
  attempt: undefined,
};

const skipped = [
  { operation: 'order', definition: 'done {$request.query.url} POST', reason: '/id is required' },
];

/** Has every member there is: when one is added, pack it, and add it here. */
const complete: Required<EditInput<'publish'>> = {
  appNo: 1,
  contract: 'Ringback',
  events: [
    { id: 'e0', name: 'a', subject: 'job', customer: 'cus_1', payload: bytes('payload'), skipped },
  ],
  audience: { kind: 'all_callbacks', id: 's' },
  trace: '00-1-2-01',
  idempotency: { key: bytes('key'), print: bytes('print') },
  inbox: 5,
  notice: 6,
};

describe('a batch', () => {
  const offer = {
    lease: 7,
    room: 3,
    free: new Map([[1, 2]]),
    inFlight: new Map([[1, 1]]),
    laneRoom: 4,
  };
  const cases: Record<string, Batch> = {
    'with nothing in it': { nowMs: 1, settlements: [], edits: [], offer: undefined },
    'of an event to everyone, beside an offer': {
      nowMs: 1,
      settlements: [],
      edits: [publish({})],
      offer,
    },
    'of nothing but a claim': {
      nowMs: 1,
      settlements: [],
      edits: [],
      offer: undefined,
      workOffers: { claim: offer, fanOut: { ...offer, lease: 8, stepMax: 9 } },
    },
    'of several events, and of none': {
      nowMs: 1,
      settlements: [],
      edits: [
        publish({
          events: ['', 'b', 'cc'].map((text) => ({
            id: text,
            name: 'n',
            ...unnamed,
            payload: bytes(text),
          })),
        }),
        publish({ events: [] }),
      ],
      offer: undefined,
    },
    'of an event to one, in a trace, with a key to know it again': {
      nowMs: 1,
      settlements: [],
      edits: [
        publish({
          audience: { kind: 'subscription', id: 's' },
          trace: '00-1-2-01',
          idempotency: { key: bytes('key'), print: bytes('print') },
        }),
      ],
      offer: undefined,
    },
    'of outcomes, and of an event beside them': {
      nowMs: 1,
      settlements: [outcome, { ...outcome, outcome: { kind: 'retry', waitMs: 9 } }],
      edits: [publish({})],
      offer,
    },
    'of an event of which everything is said': {
      nowMs: 1,
      settlements: [],
      edits: [publish(complete)],
      offer,
    },
    'of an event from the inbox, of a notice, and of something else between them': {
      nowMs: 1,
      settlements: [],
      edits: [
        publish({ inbox: 5 }),
        { verb: 'forget', input: { idempotencyBeforeMs: 0, limit: 1 } },
        publish({ notice: 0, audience: { kind: 'all_callbacks', id: 's' } }),
      ],
      offer: undefined,
    },
  };
  for (const [what, batch] of Object.entries(cases)) {
    it(`${what} arrives unchanged`, () => {
      assert.deepStrictEqual(unpackBatch(sent(packBatch(batch))), {
        workOffers: undefined,
        ...batch,
      });
    });
  }

  it('holds all its bytes in one buffer of exact size, and does not detach the originals', () => {
    const edits = [pool.subarray(2, 5), pool.subarray(8)].map((payload) =>
      publish({ events: [{ id: 'e', name: 'a', ...unnamed, payload }] }),
    );
    const parcel = packBatch({ nowMs: 1, settlements: [], edits, offer: undefined });
    assert.equal(parcel.bytes.byteLength, 5);
    const payloads = unpackBatch(sent(parcel)).edits.flatMap((call) =>
      call.verb === 'publish' ? call.input.events.map(({ payload }) => Buffer.from(payload)) : [],
    );
    assert.deepEqual(payloads.map(String), ['234', '89']);
    assert.equal(String(pool), '0123456789');
  });
});

describe('the reply to a batch', () => {
  it('arrives unchanged', () => {
    const reply: Extract<BatchReply, { kind: 'written' }> = {
      kind: 'written',
      nextWork: { readyMs: 5, isFanningOut: true },
      settled: [
        { kind: 'done', output: { kind: 'settled' } },
        { kind: 'failed', message: 'no', trace: 'there' },
        { kind: 'done', output: { kind: 'settled', concurrency: 3 } },
        { kind: 'done', output: { kind: 'stale' } },
      ],
      edits: [
        { kind: 'done', output: { kind: 'accepted', events: [{ id: 'e0', deliveries: 1 }] } },
        { kind: 'failed', message: 'no', trace: 'there' },
        {
          kind: 'done',
          output: {
            kind: 'accepted',
            events: [
              { id: 'e1', deliveries: undefined },
              { id: 'e2', deliveries: 0, skipped },
            ],
          },
        },
        { kind: 'done', output: { kind: 'repeated', events: [{ id: 'e3', deliveries: 2 }] } },
        { kind: 'done', output: { kind: 'mismatch' } },
        { kind: 'done', output: { gone: 1, freed: 2 } },
      ],
      fresh: [
        { event: 'e0', n: 0, appNo: 9, lane: 1, callback: 2, version: 3, concurrency: undefined },
        { event: 'e2', n: 4, appNo: 9, lane: 5, callback: 6, version: 7, concurrency: 8 },
      ],
    };
    assert.deepStrictEqual(unpackWritten(sent(packWritten(reply))), {
      ...reply,
      worked: undefined,
    });
  });
});
