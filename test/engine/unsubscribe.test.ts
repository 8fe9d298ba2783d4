import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { unsubscribe } from '../../src/engine/subscribe/subscriptions.ts';
import { openDatabase, startEngine, type FakeSend } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

/** A network with random delays before and after a request starts, by the seed. */
function slowNetwork(world: VirtualWorld): {
  starts: number[];
  refused: () => number;
  send: FakeSend;
} {
  const starts: number[] = [];
  let refused = 0;
  const some = async (): Promise<void> => world.sleep(Math.floor(world.random() * 4));
  const send: FakeSend = async (_request, options) => {
    await some();
    if (options?.onStart?.() === false) {
      refused += 1;
      return { kind: 'not_started', reason: 'declined' };
    }
    starts.push(world.monotonicMs());
    await some();
    const status = world.random() < 0.3 ? 500 : 200;
    return { kind: 'answered', status, headers: [], body: new Uint8Array(), cut: false };
  };
  return { starts, refused: () => refused, send };
}

describe('unsubscribe', () => {
  it('lets no attempt start after it has answered: 1,000 races', async () => {
    let stopped = 0;
    let before = 0;
    // Starting an engine takes longer than a race, so each engine runs eight of them.
    for (let seed = 1; seed <= 125; seed += 1) {
      const world = virtualWorld({ seed });
      const { starts, refused, send } = slowNetwork(world);
      await using engine = await startEngine(world, openDatabase(), send);
      for (let race = 1; race <= 8; race += 1) {
        const which = `race ${race} of seed ${seed}`;
        const startsBefore = starts.length;
        const id = await engine.subscribe();
        const publishing = Promise.all(Array.from({ length: 12 }, async () => engine.publish()));
        await world.pass(Math.floor(world.random() * 6));
        let startsAtAnswer = -1;
        const ending = unsubscribe(engine.context, engine.context.defaultApp, id).then(() => {
          startsAtAnswer = starts.length;
        });
        await world.pass(50);
        await Promise.all([ending, publishing]);
        await world.pass(60_000);
        assert.equal(starts.length, startsAtAnswer, `${which}: an attempt started too late`);
        const tally = await engine.context.store.read('tally', {});
        assert.equal(tally.due + tally.running + tally.dead, 0, `${which}: ${inspect(tally)}`);
        before += startsAtAnswer - startsBefore;
      }
      assert.deepEqual(engine.errors, [], `seed ${seed}`);
      stopped += refused();
    }
    // The races must have gone both ways, or they prove nothing.
    assert.ok(stopped > 100, `only ${stopped} attempts were stopped at the gate`);
    assert.ok(before > 100, `only ${before} attempts came before`);
  });
});
