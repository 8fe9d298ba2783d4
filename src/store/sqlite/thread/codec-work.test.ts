import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Leased } from '../../../core/domain/delivery.ts';
import type {
  AttemptRecord,
  Settled,
  Settlement,
  Work,
  Worked,
} from '../../port/delivery-verbs.ts';
import { type BatchReply, asBatch } from '../../port/transport-protocol.ts';
import { type Parcel, packBatch, packWritten, unpackBatch, unpackWritten } from './codec.ts';

/** Transfers packed bytes as to a thread. */
function sent(parcel: Parcel): Parcel {
  return structuredClone(parcel, { transfer: [parcel.bytes] });
}

function attempt(about: Partial<AttemptRecord>): AttemptRecord {
  return {
    node: 1,
    startedMs: 2,
    tookMs: 3,
    status: 200,
    error: undefined,
    message: undefined,
    request: { method: 'post', url: 'https://receiver.example/' },
    response: {
      headers: [
        ['content-type', 'text/plain'],
        ['date', 'today'],
      ],
      body: new TextEncoder().encode('ok'),
      cut: false,
    },
    warning: undefined,
    ...about,
  };
}

describe('work', () => {
  const named = { event: 'e', n: 0, lease: 9 };
  const settlements: Record<string, Settlement> = {
    'a success': { ...named, outcome: { kind: 'delivered' }, attempt: attempt({}) },
    'a final success': {
      ...named,
      finals: ['done {$request.body#/url} POST'],
      outcome: { kind: 'delivered' },
      attempt: undefined,
    },
    'a success that the contract does not know': {
      ...named,
      outcome: { kind: 'delivered' },
      attempt: attempt({ warning: 'not declared' }),
    },
    'a failure without an answer': {
      ...named,
      outcome: { kind: 'retry', waitMs: 77 },
      attempt: attempt({
        status: undefined,
        error: 'timeout',
        message: 'late',
        response: undefined,
      }),
    },
    'an end with an answer that was cut, and without headers': {
      ...named,
      outcome: { kind: 'dead', reason: 'exhausted' },
      attempt: attempt({
        status: 500,
        error: 'status',
        response: { headers: [], body: new Uint8Array(), cut: true },
      }),
    },
    'one that was given back': {
      ...named,
      outcome: { kind: 'released', waitMs: 1 },
      attempt: undefined,
    },
  };
  const offer = { lease: 7, room: 3, free: new Map([[1, 2]]), inFlight: new Map(), laneRoom: 4 };

  for (const [what, settlement] of Object.entries(settlements)) {
    it(`with ${what} arrives unchanged`, () => {
      const work: Work = { nowMs: 1, settlements: [settlement], claim: undefined, fanOut: offer };
      assert.deepStrictEqual(unpackBatch(sent(packBatch(asBatch(work)))), asBatch(work));
    });
  }

  it('with all of them arrives unchanged, with all bytes in one buffer of exact size', () => {
    const work: Work = {
      nowMs: 1,
      settlements: Object.values(settlements),
      claim: offer,
      fanOut: undefined,
    };
    const parcel = packBatch(asBatch(work));
    assert.equal(parcel.bytes.byteLength, 4);
    assert.deepStrictEqual(unpackBatch(sent(parcel)), asBatch(work));
  });

  it('does not detach the memory that a body is a part of', () => {
    const pool = Buffer.from('0123456789');
    const response = { headers: [], body: pool.subarray(1, 3), cut: false };
    const settlement = { ...named, outcome: { kind: 'delivered' }, attempt: attempt({ response }) };
    const offers = { claim: undefined, fanOut: undefined };
    const work: Work = { nowMs: 1, settlements: [settlement as Settlement], ...offers };
    const parcel = packBatch(asBatch(work));
    assert.equal(parcel.bytes.byteLength, 2);
    const [back] = unpackBatch(sent(parcel)).settlements;
    assert.equal(String(Buffer.from(back?.attempt?.response?.body ?? [])), '12');
    assert.equal(String(pool), '0123456789');
  });
});

describe('the reply to work', () => {
  const payload = new TextEncoder().encode('{}');
  const leased = (about: Partial<Leased>): Leased => ({
    event: 'e',
    n: 0,
    appNo: 9,
    lane: 1,
    callback: 2,
    version: 3,
    concurrency: undefined,
    lease: 4,
    tries: 5,
    attempts: 6,
    eventName: 'a.b',
    trace: undefined,
    payload,
    ...about,
  });
  // Has every member there is: when one is added, pack it, and add it here.
  const complete: Required<Extract<Settled, { kind: 'settled' }>> = {
    kind: 'settled',
    concurrency: 1,
  };
  const worked: Worked = {
    readyMs: undefined,
    claimed: [leased({ concurrency: 2, trace: '00-1-2-01' })],
    fannedOut: { deliveries: [leased({ n: 1 }), leased({ n: 2 })], isMore: true, failure: 'why' },
  };
  const reply: Extract<BatchReply, { kind: 'written' }> = {
    kind: 'written',
    edits: [],
    fresh: [],
    nextWork: { readyMs: undefined, isFanningOut: true },
    worked,
    settled: [
      { kind: 'done', output: { kind: 'settled' } },
      { kind: 'done', output: complete },
      { kind: 'done', output: { kind: 'stale' } },
      { kind: 'failed', message: 'no', trace: 'there' },
      { kind: 'done', output: { kind: 'gone', subscription: 's', lanes: [1, 2] } },
      { kind: 'done', output: { kind: 'overdue', appNo: 1, lane: 2 } },
    ],
  };

  it('arrives unchanged', () => {
    assert.deepStrictEqual(unpackWritten(sent(packWritten(reply))), reply);
  });

  it('contains the payload of a fan-out only once', () => {
    const [first, second] =
      unpackWritten(sent(packWritten(reply))).worked?.fannedOut.deliveries ?? [];
    assert(first !== undefined && first.payload === second?.payload);
  });
});
