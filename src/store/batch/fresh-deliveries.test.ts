import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import type { EditCall } from '../port/transport-protocol.ts';
import type { FreshDelivery, Offer } from '../port/delivery-verbs.ts';
import { leasedFrom } from './fresh-deliveries.ts';

function published(ids: readonly string[]): EditCall {
  const events = ids.map((id) => ({ id, name: `name.${id}`, payload: Buffer.from(id) }));
  const audience = { kind: 'everyone' } as const;
  const input = {
    appNo: 1,
    contract: 'c',
    audience,
    events,
    trace: `trace ${ids[0]}`,
    idempotency: undefined,
  };
  return { verb: 'publish', input };
}

function freshOf(event: string, n: number): FreshDelivery {
  return { event, n, appNo: 9, lane: n, callback: 1, version: 1, concurrency: undefined };
}

const offer: Offer = { lease: 7, room: 100, free: new Map(), inFlight: new Map(), laneRoom: 10 };

describe('fresh deliveries', () => {
  it('get the payloads of their events, in any order', () => {
    const names = fc.uniqueArray(fc.nat({ max: 999 }).map(String), { minLength: 1 });
    const batch = names.chain((ids) =>
      fc.record({
        sizes: fc.array(fc.integer({ min: 1, max: 3 })),
        ids: fc.constant(ids),
        names: fc.array(fc.tuple(fc.constantFrom(...ids), fc.nat({ max: 9 }))),
        isInOrder: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(batch, ({ ids, sizes, names: named, isInOrder }) => {
        const left = [...ids];
        const edits = sizes.map((size) => left.splice(0, size)).filter((some) => some.length > 0);
        if (left.length > 0) edits.push(left);
        const order = isInOrder
          ? named.toSorted(([a], [b]) => ids.indexOf(a) - ids.indexOf(b))
          : named;
        const fresh = order.map(([id, n]) => freshOf(id, n));
        const leased = leasedFrom(fresh, { edits: edits.map(published), offer });
        assert.deepEqual(
          leased.map(({ event, n, eventName, payload, trace }) => [
            event,
            n,
            eventName,
            String(payload),
            trace,
          ]),
          order.map(([id, n]) => {
            const edit = edits.find((some) => some.includes(id));
            return [id, n, `name.${id}`, id, `trace ${edit?.[0]}`];
          }),
        );
      }),
    );
  });

  it('throw if their event is not in the batch', () => {
    const batch = { edits: [published(['a', 'b'])], offer };
    assert.throws(
      () => leasedFrom([freshOf('a', 0), freshOf('c', 0)], batch),
      /event "c": it is not of this/,
    );
  });
});
