import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits.ts';
import { createPrecedence } from './side.ts';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still until the test says otherwise, and somebody who is held and let go. */
function stage() {
  const slept: { ms: number; wake: () => void }[] = [];
  const sleep = async (ms: number): Promise<void> =>
    new Promise((resolve) => {
      slept.push({ ms, wake: resolve });
    });
  const said: string[] = [];
  const hold = async (): Promise<() => void> => {
    said.push('held');
    return () => void said.push('let go');
  };
  return { order: createPrecedence({ sleep }), slept, said, hold };
}

describe('createPrecedence', () => {
  it('holds who is behind until that is over, and lets him go before anything else happens', async () => {
    const { order, slept, said, hold } = stage();
    const first = Promise.withResolvers<number>();
    const ahead = order.ahead(async () => first.promise);
    void ahead.then(() => said.push('handed out'));
    await order.behind(hold);
    await turn();
    assert.deepEqual(said, ['held']);
    first.resolve(7);
    assert.equal(await ahead, 7);
    assert.deepEqual(said, ['held', 'let go', 'handed out']);
    assert.deepEqual(
      slept.map(({ ms }) => ms),
      [limits.outcomesBehindMs],
    );
  });

  it('holds nobody when nobody is ahead, before or afterwards', async () => {
    const { order, slept, said, hold } = stage();
    await order.behind(hold);
    await order.ahead(async () => undefined);
    await order.behind(hold);
    await assert.rejects(
      order.ahead(async () => assert.fail('no')),
      /no/,
    );
    await order.behind(hold);
    assert.deepEqual(said, []);
    assert.equal(slept.length, 0);
  });

  it('holds nobody for long', async () => {
    const { order, slept, said, hold } = stage();
    void order.ahead(async () => new Promise<never>(() => {}));
    await order.behind(hold);
    slept[0]?.wake();
    await turn();
    assert.deepEqual(said, ['held', 'let go']);
  });

  it('lets go at once when that was over before he was held', async () => {
    const { order, said } = stage();
    const first = Promise.withResolvers<void>();
    const ahead = order.ahead(async () => first.promise);
    const held = Promise.withResolvers<() => void>();
    const behind = order.behind(async () => held.promise);
    first.resolve();
    await ahead;
    held.resolve(() => void said.push('let go'));
    await behind;
    assert.deepEqual(said, ['let go']);
  });
});
