import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { firstIdAt } from '../../../core/base/id.ts';
import { dayAt, dayOfPartition, daysBetween, isBefore, partitionName } from './partitions.ts';

const noonMs = Date.UTC(2026, 10, 15, 12);
const hourMs = 60 * 60 * 1000;

describe('dayAt', () => {
  it('spans a UTC day, and the next one begins where it ends', () => {
    const day = dayAt(noonMs);
    assert.equal(day.name, '20261115');
    assert.deepEqual(dayAt(noonMs - 12 * hourMs), day);
    assert.deepEqual(dayAt(noonMs + 12 * hourMs - 1), day);
    assert.equal(dayAt(noonMs + 12 * hourMs).fromId, day.toId);
    assert(day.fromId <= firstIdAt(noonMs) && firstIdAt(noonMs) < day.toId);
  });
});

describe('daysBetween', () => {
  it('returns both ends and all days in between', () => {
    const names = daysBetween({ fromMs: noonMs - 24 * hourMs, toMs: noonMs + 37 * hourMs }).map(
      ({ name }) => name,
    );
    assert.deepEqual(names, ['20261114', '20261115', '20261116', '20261117']);
    assert.equal(daysBetween({ fromMs: noonMs, toMs: noonMs }).length, 1);
  });

  it('refuses ranges that are reversed or too long', () => {
    assert.throws(() => daysBetween({ fromMs: noonMs, toMs: noonMs - 24 * hourMs }), /0 days/);
    assert.throws(() => daysBetween({ fromMs: 0, toMs: noonMs }), /expected 1 to/);
  });
});

describe('isBefore', () => {
  it('is true for whole days only', () => {
    const day = dayAt(noonMs);
    assert(!isBefore(day, noonMs + 12 * hourMs - 1));
    assert(isBefore(day, noonMs + 12 * hourMs));
  });
});

describe('dayOfPartition', () => {
  it('recognizes the names that partitionName makes', () => {
    for (const table of ['event', 'delivery_done', 'attempt', 'response']) {
      const day = dayAt(noonMs);
      assert.deepEqual(dayOfPartition(partitionName(table, day)), day);
    }
  });

  it('does not recognize other names', () => {
    for (const name of [
      'event',
      'event_2026111',
      'event_20261315',
      'event_20260230',
      'x_20261115',
    ]) {
      assert.equal(dayOfPartition(name), undefined, name);
    }
  });
});
