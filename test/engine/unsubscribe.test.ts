import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { seed as firstSeed } from '../fast-check.ts';
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

/** In groups, because a test has a time limit, and all races together exceed it on a busy machine. */
const groups = 5;
/** `npm run soak`, which sets the variable, runs more. */
const seedsPerGroup = process.env['RINGBACK_SEQUENCES'] === undefined ? 10 : 25;
/** Starting an engine takes longer than a race, so each engine runs several of them. */
const racesPerSeed = 8;

describe('unsubscribe', () => {
  for (let group = 1; group <= groups; group += 1) {
    const races = seedsPerGroup * racesPerSeed;
    it(`lets no attempt start after it has answered: ${races} races, part ${group}`, async () => {
      let stopped = 0;
      let before = 0;
      for (let i = 1; i <= seedsPerGroup; i += 1) {
        const { refused, started } = await raceAll(
          (firstSeed * groups + group) * seedsPerGroup + i,
        );
        stopped += refused;
        before += started;
      }
      // The races must have gone both ways, or they prove nothing.
      assert.ok(stopped > 20, `only ${stopped} attempts were stopped at the gate`);
      assert.ok(before > 20, `only ${before} attempts came before`);
    });
  }
});

/** Attempts that the gate refused, and those that started before an unsubscribe was answered. */
async function raceAll(seed: number): Promise<{ refused: number; started: number }> {
  const world = virtualWorld({ seed });
  const { starts, refused, send } = slowNetwork(world);
  let started = 0;
  await using engine = await startEngine(world, openDatabase(), send);
  for (let race = 1; race <= racesPerSeed; race += 1) {
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
    started += startsAtAnswer - startsBefore;
  }
  assert.deepEqual(engine.errors, [], `seed ${seed}`);
  return { refused: refused(), started };
}
