import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shareWork } from './seen.ts';

describe('shareWork', () => {
  it('fails both copies when the one call failed, and tries again for the next', async () => {
    const share = shareWork<number>();
    const first = Promise.withResolvers<number>();
    let calls = 0;
    const work = async (): Promise<number> => {
      calls += 1;
      return calls === 1 ? first.promise : calls;
    };
    const both = [share('a', work), share('a', work)];
    assert.equal(calls, 1);
    first.reject(new Error('not now'));
    const ends = await Promise.allSettled(both);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(await share('a', work), 2);
  });

  it('does not make one event wait for another', async () => {
    const share = shareWork<string>();
    const never = share('a', async () => new Promise<string>(() => undefined));
    assert.equal(await share('b', async () => 'done'), 'done');
    assert.ok(never instanceof Promise);
  });
});
