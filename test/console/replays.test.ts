// The pure parts of the pages of replays, keys and the contract.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expiresAt } from '../../console/src/api-keys/expiry.ts';
import { scopesInOrder } from '../../console/src/api-keys/scopes.ts';
import { templateParts, waysOf } from '../../console/src/contract/template-parts.ts';
import { mergeReplays } from '../../console/src/replays/live-replays.ts';
import { timeLeft, ratePerSecond, rateText } from '../../console/src/replays/estimate.ts';
import {
  rateError,
  requestOf,
  paramsFor,
  valuesIn,
} from '../../console/src/replays/form-values.ts';
import type { Replay } from '../../src/client/contract/delivery.ts';

const beganMs = Date.parse('2026-11-02T10:00:00Z');

function replay(changes: Partial<Replay> = {}): Replay {
  return {
    id: 'rpl_2',
    state: 'running',
    filter: { state: 'dead', until: '2026-11-02T10:00:00Z' },
    ratePerSecond: 50,
    matched: 100,
    replayed: 100,
    skipped: 0,
    progress: 0.25,
    createdAt: new Date(beganMs).toISOString(),
    ...changes,
  };
}

describe('the estimate of a replay', () => {
  it('gives no estimate too early', () => {
    assert.equal(ratePerSecond(replay(), beganMs + 500), undefined);
    assert.equal(timeLeft(replay(), beganMs + 500), undefined);
    assert.equal(timeLeft(replay({ progress: 0.001 }), beganMs + 60_000), undefined);
  });

  it('computes the rate and extrapolates the remaining time', () => {
    assert.equal(ratePerSecond(replay(), beganMs + 10_000), 10);
    assert.equal(timeLeft(replay(), beganMs + 10_000), 'about 30 s left');
    assert.equal(timeLeft(replay({ progress: 0.99 }), beganMs + 10_000), 'nearly done');
    assert.equal(rateText(0.52), '0.5 per second');
    assert.equal(rateText(48.4), '48 per second');
  });

  it('does not change after the end', () => {
    const endedAt = new Date(beganMs + 10_000).toISOString();
    const done = replay({ state: 'done', progress: 1, endedAt });
    assert.equal(ratePerSecond(done, beganMs + 99_000), 10);
    assert.equal(timeLeft(done, beganMs + 99_000), undefined);
  });
});

describe('mergeReplays', () => {
  it('updates replays in place and adds new ones on top', () => {
    const shown = [replay(), replay({ id: 'rpl_1', state: 'done' })];
    const moved = [replay({ matched: 120 }), replay({ id: 'rpl_3' }), replay({ id: 'rpl_0' })];
    const merged = mergeReplays(shown, moved);
    assert.deepEqual(
      merged.map(({ id, matched }) => [id, matched]),
      [
        ['rpl_3', 100],
        ['rpl_2', 120],
        ['rpl_1', 100],
      ],
      'an older one belongs to a page that was not read',
    );
  });

  it('never goes backwards in counts or state', () => {
    const [late] = mergeReplays([replay({ matched: 120 })], [replay({ matched: 100 })]);
    assert.equal(late?.matched, 120);
    const [over] = mergeReplays([replay({ state: 'cancelled' })], [replay()]);
    assert.equal(over?.state, 'cancelled');
  });
});

describe('the form values of a replay', () => {
  it('goes from the address to the request, with defaults', () => {
    const values = valuesIn(new URLSearchParams('new=1&event=order.*&status=&rate=5&other=x'));
    assert.deepEqual(values, { event: 'order.*', rate: '5' });
    const filter = { state: 'dead', event: 'order.*' };
    assert.deepEqual(requestOf(values), { filter, ratePerSecond: 5 });
    assert.equal(requestOf({}).ratePerSecond, 50);
  });

  it('validates the rate', () => {
    for (const rate of ['0', '1001', '1.5', 'x', '-3']) assert.ok(rateError(rate), rate);
    for (const rate of [undefined, '1', '1000']) assert.equal(rateError(rate), undefined);
  });

  it('can be made from a replay, until now', () => {
    const kept = { state: 'dead', event: 'a', subject: 'job_17', customer: 'cus_1' } as const;
    const params = paramsFor({ ...kept, until: '2026-11-02T10:00:00Z' }, 7);
    assert.deepEqual(params, { new: '1', ...kept, rate: '7' });
    const values = valuesIn(new URLSearchParams(params));
    assert.deepEqual(requestOf(values), { filter: kept, ratePerSecond: 7 });
  });
});

describe('keys', () => {
  it('expire after days, at a time, or never', () => {
    assert.equal(expiresAt('never', '', beganMs), undefined);
    assert.equal(expiresAt('30', '', beganMs), '2026-12-02T10:00:00.000Z');
    const at = expiresAt('at', '2027-01-01T00:00', beganMs);
    assert.equal(at, new Date('2027-01-01T00:00').toISOString());
  });

  it('list their scopes in a fixed order', () => {
    assert.deepEqual(scopesInOrder(['admin', 'publish']), ['publish', 'admin']);
  });
});

describe('the contract in words', () => {
  it('splits the key of a callback', () => {
    const reads = [{ expression: '$request.body#/url', place: 'the request body at /url' }];
    assert.deepEqual(templateParts('{$request.body#/url}/data?x={$method}', reads), [
      { kind: 'expression', text: '{$request.body#/url}', place: 'the request body at /url' },
      { kind: 'text', text: '/data?x=' },
      { kind: 'expression', text: '{$method}', place: undefined },
    ]);
    assert.deepEqual(templateParts('https://a.example', []), [
      { kind: 'text', text: 'https://a.example' },
    ]);
  });

  it('splits the ways to authenticate', () => {
    const words = 'a key in header X-API-Key and an app id in header X, or a key in query api_key';
    assert.deepEqual(waysOf(words), [
      'a key in header X-API-Key and an app id in header X',
      'a key in query api_key',
    ]);
    assert.deepEqual(waysOf('nothing'), ['nothing']);
  });
});
