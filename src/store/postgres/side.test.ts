import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits.ts';
import { createPrecedence } from './side.ts';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still until the test says otherwise. */
function stage() {
  const slept: { ms: number; wake: () => void; isAborted: () => boolean }[] = [];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      slept.push({ ms, wake: resolve, isAborted: () => signal?.aborted === true });
    });
  const said: string[] = [];
  const say = (what: string) => (): void => void said.push(what);
  return { order: createPrecedence({ sleep }), slept, said, say };
}

describe('createPrecedence', () => {
  it('lets who is behind wait until that is over, and leaves no timer behind', async () => {
    const { order, slept, said, say } = stage();
    const first = Promise.withResolvers<number>();
    const ahead = order.ahead(async () => first.promise);
    const behind = order.behind().then(say('behind'));
    await turn();
    assert.deepEqual(said, []);
    first.resolve(7);
    assert.equal(await ahead, 7);
    await behind;
    assert.deepEqual(
      slept.map(({ ms, isAborted }) => [ms, isAborted()]),
      [[limits.outcomesBehindMs, true]],
    );
  });

  it('lets nobody wait when nobody is ahead, before or afterwards', async () => {
    const { order, slept } = stage();
    await order.behind();
    await order.ahead(async () => undefined);
    await order.behind();
    await assert.rejects(
      order.ahead(async () => assert.fail('no')),
      /no/,
    );
    await order.behind();
    assert.equal(slept.length, 0);
  });

  it('lets nobody wait for long', async () => {
    const { order, slept } = stage();
    void order.ahead(async () => new Promise<never>(() => {}));
    const behind = order.behind();
    slept[0]?.wake();
    await behind;
  });
});
