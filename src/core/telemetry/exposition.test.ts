// Tests the text that Prometheus reads, byte for byte.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  expose,
  counterFamily,
  counters,
  createHistogram,
  gauge,
  observe,
  type Family,
} from './metric.ts';

describe('expose', () => {
  it('writes the name, help, type and samples', () => {
    const all = counters('state', 'why');
    all.of('dead', 'dns').count += 2;
    const text = expose([counterFamily({ name: 'a_total', help: 'How many.' }, all)]);
    const lines = ['# HELP a_total How many.', '# TYPE a_total counter'];
    assert.equal(text, `${[...lines, 'a_total{state="dead",why="dns"} 2'].join('\n')}\n`);
  });

  it('names a family without samples', () => {
    const title = { name: 'a_total', help: 'x' };
    assert.equal(
      expose([counterFamily(title, counters('state'))]),
      '# HELP a_total x\n# TYPE a_total counter\n',
    );
    assert.match(expose([gauge({ name: 'age_seconds', help: 'x' }, 1.5)]), /^age_seconds 1\.5$/m);
  });

  it('writes cumulative buckets, the sum and the count', () => {
    const histogram = createHistogram([0.1, 1]);
    for (const value of [0.1, 0.5, 1, 7]) observe(histogram, value);
    const family: Family = {
      name: 't_seconds',
      help: 'x',
      type: 'histogram',
      histograms: [{ labels: { kind: 'work' }, histogram }],
    };
    assert.deepEqual(expose([family]).split('\n').slice(2, -1), [
      't_seconds_bucket{kind="work",le="0.1"} 1',
      't_seconds_bucket{kind="work",le="1"} 3',
      't_seconds_bucket{kind="work",le="+Inf"} 4',
      't_seconds_sum{kind="work"} 8.6',
      't_seconds_count{kind="work"} 4',
    ]);
  });

  it('escapes characters that would break a line', () => {
    const family: Family = {
      name: 'a',
      help: 'back\\slash\nline "quoted"',
      type: 'gauge',
      samples: [{ labels: { name: 'a"b\\c\nd' }, value: Infinity }],
    };
    assert.equal(
      expose([family]),
      String.raw`# HELP a back\\slash\nline "quoted"` +
        '\n# TYPE a gauge\n' +
        String.raw`a{name="a\"b\\c\nd"} +Inf` +
        '\n',
    );
  });
});
