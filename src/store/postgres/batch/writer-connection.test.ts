import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../../core/limits/limits.ts';
import { createPrecedence } from './writer-connection.ts';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that advances only when the test says so, and a party that is held and released. */
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
  it('holds the party behind until the one ahead is done, and releases it before anything else happens', async () => {
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

  it('holds no one while no one is ahead', async () => {
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

  it('releases after a time limit', async () => {
    const { order, slept, said, hold } = stage();
    void order.ahead(async () => new Promise<never>(() => {}));
    await order.behind(hold);
    slept[0]?.wake();
    await turn();
    assert.deepEqual(said, ['held', 'let go']);
  });

  it('releases at once if the one ahead was done before the hold', async () => {
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
