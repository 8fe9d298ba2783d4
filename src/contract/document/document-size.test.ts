import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { bounds } from './bounds.ts';
import { sizeFault, measureJson } from './document.ts';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('measureJson', () => {
  it('counts at least the values, and never those inside strings', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const weighing = measureJson(text);
        assert.ok(weighing.kind === 'weighed');
        assert.ok(weighing.nodes <= 4 * text.length);
      }),
    );
    assert.deepEqual(measureJson('"[[[,,,{{{\\"]]"'), { kind: 'weighed', nodes: 1 });
    assert.deepEqual(measureJson('{"a":[1,2]}'), { kind: 'weighed', nodes: 5 });
  });

  it('refuses nesting that is too deep', () => {
    const max = bounds.documentDepthMax;
    assert.equal(measureJson(JSON.stringify(nested(max))).kind, 'weighed');
    assert.equal(measureJson(JSON.stringify(nested(max + 1))).kind, 'flaw');
  });
});

describe('sizeFault', () => {
  it('accepts what JSON can represent', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(sizeFault(value), undefined)));
    const shared = { a: [1, 2, 3] };
    assert.equal(sizeFault([shared, shared, { shared }]), undefined);
  });

  it('counts a shared value as often as it is reached', () => {
    let value: unknown = 'x';
    for (let n = 0; n < 30; n += 1) value = [value, value];
    assert.match(sizeFault(value) ?? '', /contains more than 2000000 values/);
    const long = 'x'.repeat(1_000_000);
    assert.match(
      sizeFault(Array.from({ length: 100 }, () => [long])) ?? '',
      /expands to more than \d+ characters/,
    );
  });

  it('refuses values that are too deep, or contain themselves', () => {
    const max = bounds.documentDepthMax;
    assert.equal(sizeFault(nested(max)), undefined);
    assert.match(sizeFault(nested(max + 1)) ?? '', /nested deeper than 200 levels/);
    const loop: Record<string, unknown> = {};
    loop['a'] = [loop];
    assert.match(sizeFault(loop) ?? '', /a value contains itself/);
  });
});
