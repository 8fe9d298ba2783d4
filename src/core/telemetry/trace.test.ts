import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import {
  attemptSpanId,
  deliverySpanId,
  parseTrace,
  printTrace,
  readTrace,
  traceIdOf,
  traceparentOf,
} from './trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const parent = `00-${traceId}-${spanId}-01`;

function read(traceparent: string, tracestate?: string): ReturnType<typeof readTrace> {
  const header = new Map([['traceparent', traceparent]]);
  if (tracestate !== undefined) header.set('tracestate', tracestate);
  return readTrace(header);
}

describe('readTrace', () => {
  it('reads the example of the specification, with and without the sampled flag', () => {
    const context = { traceId, spanId, isSampled: true, state: undefined };
    assert.deepEqual(read(parent), context);
    assert.deepEqual(read(`00-${traceId}-${spanId}-00`), { ...context, isSampled: false });
    assert.deepEqual(read(`00-${traceId}-${spanId}-02`), { ...context, isSampled: false });
    assert.deepEqual(read(parent, 'a=b,c=d'), { ...context, state: 'a=b,c=d' });
  });

  it('reads the part that a later version shares with this one', () => {
    assert.equal(read(`cc-${traceId}-${spanId}-01-what-comes-later`)?.traceId, traceId);
    assert.equal(read(`cc-${traceId}-${spanId}-01`)?.spanId, spanId);
  });

  it('ignores anything else', () => {
    const wrong = [
      '',
      `${parent}-more`,
      `cc-${traceId}-${spanId}-01.more`,
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      parent.toUpperCase(),
      `${parent}, ${parent}`,
      ` ${parent}`,
      `${parent}\n`,
      `cc-${traceId}-${spanId}-01-${'x'.repeat(500)}`,
    ];
    for (const text of wrong) assert.equal(read(text), undefined, JSON.stringify(text));
    assert.equal(readTrace(new Map([['tracestate', 'a=b']])), undefined);
  });

  it('drops a state that is not a valid header value, and keeps the trace', () => {
    for (const state of ['', ' ', 'a=b\r\nx: y', 'ä=b', 'a'.repeat(513), 'a=b ']) {
      assert.deepEqual(read(parent, state)?.state, undefined, JSON.stringify(state));
    }
    assert.equal(read(parent, 'a'.repeat(512))?.state?.length, 512);
  });
});

describe('printTrace', () => {
  const hex = (count: number): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom(...'0123456789abcdef'.split('')), {
        minLength: count,
        maxLength: count,
      })
      .map((all) => all.join(''))
      .filter((text) => /[1-9a-f]/.test(text));
  const contexts = fc.record(
    {
      traceId: hex(32),
      spanId: hex(16),
      isSampled: fc.boolean(),
      state: fc.option(fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,80}[\x21-\x7e])?$/), {
        nil: undefined,
      }),
    },
    { noNullPrototype: true },
  );

  it('round-trips through parseTrace and readTrace', () => {
    const property = fc.property(contexts, (context) => {
      assert.deepEqual(parseTrace(printTrace(context)), context);
      assert.deepEqual(read(traceparentOf(context), context.state), context);
    });
    fc.assert(property);
  });

  it('is refused when it was changed', () => {
    assert.equal(parseTrace('x'), undefined);
    assert.equal(parseTrace(''), undefined);
  });
});

describe('ids of spans', () => {
  const leased = { event: '01jc4t6v8m3q5r7w9x1y2z3a4d', n: 3, attempts: 0, tries: 0, lease: 7 };

  it('stay the same across retries of a delivery, and change when it is sent again by hand', () => {
    assert.match(deliverySpanId(leased), /^[0-9a-f]{16}$/);
    const retried = { ...leased, attempts: 2, tries: 2, lease: 99 };
    assert.equal(deliverySpanId(retried), deliverySpanId(leased));
    const byHand = { ...leased, attempts: 2, tries: 0 };
    assert.notEqual(deliverySpanId(byHand), deliverySpanId(leased));
    assert.notEqual(deliverySpanId({ ...leased, n: 4 }), deliverySpanId(leased));
  });

  it('differ between leases: after a crash the same attempt is made twice', () => {
    assert.match(attemptSpanId(leased), /^[0-9a-f]{16}$/);
    assert.notEqual(attemptSpanId({ ...leased, lease: 8 }), attemptSpanId(leased));
    assert.notEqual(attemptSpanId(leased), deliverySpanId(leased));
  });

  it('are derived from the event when it was published without a trace', () => {
    assert.match(traceIdOf(leased.event), /^[0-9a-f]{32}$/);
    assert.notEqual(traceIdOf('01jc4t6v8m3q5r7w9x1y2z3a4e'), traceIdOf(leased.event));
  });
});
