import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls, type Controls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { makeSigningSecret } from '../../src/core/secrets/signing-secret.ts';
import { deliver } from '../../src/engine/deliver/attempt.ts';
import { noConfirmer } from '../../src/engine/deliver/confirmation.ts';
import { createLongestTimeout } from '../../src/engine/deliver/dispatcher.ts';
import type { Gate } from '../../src/engine/deliver/gate.ts';
import { createInvalidation } from '../../src/engine/deliver/start-delivering.ts';
import { createPrepare } from '../../src/engine/targets/prepared-target.ts';
import { sealSecrets } from '../../src/engine/targets/secrets.ts';
import type { Target } from '../../src/store/port/delivery-verbs.ts';
import type { Store } from '../../src/store/port/store.ts';
import type { FakeSend } from './harness.ts';
import { leased, owner, unsigned } from './one-delivery.ts';
import { virtualWorld } from './virtual-world.ts';

const world = virtualWorld();
const ring = [new Uint8Array(32)] as const;
const secret = makeSigningSecret(new Uint8Array(32), world.nowMs());

const active: Target = { ...unsigned, secrets: sealSecrets({ ring, world }, owner, [secret]) };

/** A subscription whose state the test sets, and a network that counts starts. */
function stage(): {
  state: { isActive: boolean; url: string; controls: Controls };
  /** What the receiver does before it answers, and its status; undefined: it closes instead. */
  receiver: { status: number | undefined; before: () => void | Promise<void> };
  /** What happens before the request starts. */
  way: { before: () => void };
  starts: () => number;
  /** How many deliveries are registered at the gate. */
  atGate: () => number;
  /** How the store was asked to confirm the target. */
  renewals: () => readonly string[];
  invalidation: ReturnType<typeof createInvalidation>;
  run: () => ReturnType<typeof deliver>;
} {
  const state = { isActive: true, url: active.url, controls: noControls };
  const way = { before: (): void => undefined };
  let starts = 0;
  let atGate = 0;
  const renewals: string[] = [];
  const receiver: ReturnType<typeof stage>['receiver'] = { status: 200, before: () => undefined };
  const read = async (_verb: string, asked: { callbacks: readonly number[] }): Promise<unknown> =>
    asked.callbacks.map((one) => ({ ...active, ...state, callback: one }));
  const invalidation = createInvalidation(
    { store: { read } as unknown as Store, world },
    () => undefined,
  );
  const send: FakeSend = async (_request, options) => {
    way.before();
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    starts += 1;
    await receiver.before();
    const { status } = receiver;
    if (status === undefined) return { kind: 'failed', error: 'reset', message: 'It closed.' };
    return { kind: 'answered', status, headers: [], body: new Uint8Array(), cut: false };
  };
  const count = (): { sending: number; origins: number; open: number; idle: number } => ({
    sending: 0,
    origins: 0,
    open: 0,
    idle: 0,
  });
  const gate: Gate = {
    ...invalidation.gate,
    approach: (subscription) => {
      atGate += 1;
      const pass = invalidation.gate.approach(subscription);
      const leave = (): void => {
        atGate -= 1;
        pass.leave();
      };
      return { ...pass, leave };
    },
  };
  const deps = {
    world,
    prepare: createPrepare(ring, []),
    sender: { send, close: async () => undefined, count },
    ...invalidation,
    gate,
    confirmer: {
      ...noConfirmer,
      confirm: (...asked: Parameters<typeof noConfirmer.confirm>) => ({
        ...noConfirmer.confirm(...asked),
        renew: async (how: string) => void renewals.push(how),
      }),
    },
    nowMs: () => world.nowMs(),
    longest: createLongestTimeout(),
    holdsLease: () => true,
    waitsMs: [1000],
    timeoutMs: 1000,
  };
  const run = async (): ReturnType<typeof deliver> =>
    deliver(deps, leased, { signal: new AbortController().signal, confirmedMs: 0 });
  const counts = { starts: () => starts, atGate: () => atGate, renewals: () => renewals };
  return { state, receiver, way, ...counts, invalidation, run };
}

describe('deliver', () => {
  it('delivers to a known target', async () => {
    const on = stage();
    assert.equal((await on.run()).outcome.kind, 'delivered');
    assert.equal((await on.run()).outcome.kind, 'delivered');
    assert.equal(on.starts(), 2);
  });

  it('stays registered at the gate until it ends, however it ends', async () => {
    const on = stage();
    const seen: number[] = [];
    on.receiver.before = () => void seen.push(on.atGate());
    for (const status of [200, 410, undefined]) {
      on.receiver.status = status;
      await on.run();
      seen.push(on.atGate());
    }
    assert.deepEqual(seen, [1, 0, 1, 0, 1, 0]);
  });

  it('asks the store after an attempt only if the answer ends the subscription', async () => {
    const on = stage();
    for (const status of [200, 500, undefined]) {
      on.receiver.status = status;
      await on.run();
    }
    assert.deepEqual(on.renewals(), []);
    on.receiver.status = 410;
    await on.run();
    assert.deepEqual(on.renewals(), ['fresh']);
  });

  it('starts nothing once the subscription has ended, between any two steps', async () => {
    const stopped = await atEachStep((on) => {
      on.state.isActive = false;
      on.invalidation.changed(active.subscription, 'ended');
    });
    for (const { outcome } of stopped) assert.deepEqual(outcome, { kind: 'cancelled' });
  });

  it('starts nothing once the subscription has expired, even if it has not been ended', async () => {
    const on = stage();
    on.state.controls = { ...noControls, expiresMs: world.nowMs() + 1 };
    assert.equal((await on.run()).outcome.kind, 'delivered');
    on.way.before = () => world.freeze(1); // While it waits for a connection.
    const { outcome, attempt } = await on.run();
    const waitMs = limits.unconfirmedWaitMs;
    assert.deepEqual([outcome, attempt], [{ kind: 'released', waitMs }, undefined]);
    assert.equal((await on.run()).outcome.kind, 'released');
    assert.equal(on.starts(), 1);
  });

  it('ends the subscription when its receiver answers 410', async () => {
    const on = stage();
    on.receiver.status = 410;
    assert.deepEqual((await on.run()).outcome, { kind: 'gone' });
  });

  it('ends it even if its target was evicted from the cache during the attempt', async () => {
    const on = stage();
    const { targets } = on.invalidation;
    on.receiver.status = 410;
    on.receiver.before = async () => {
      for (let other = 2; other <= limits.targetsSeenOnceMax + 1; other += 1) {
        await targets.find(other, 1);
      }
      assert.equal(targets.known(leased.callback, 1), undefined);
    };
    assert.deepEqual((await on.run()).outcome, { kind: 'gone' });
  });

  it('ends it even if an attempt at an older target has noticed the change and closed the gate', async () => {
    const on = stage();
    on.receiver.status = 410;
    on.receiver.before = () => on.invalidation.gate.close(active.subscription, 'held');
    assert.deepEqual((await on.run()).outcome, { kind: 'gone' });
  });

  it('does not end it if its URL was changed before the old receiver answered 410', async () => {
    const on = stage();
    on.receiver.status = 410;
    on.receiver.before = () => {
      on.state.url = 'http://127.0.0.1:9001/';
      on.invalidation.changed(active.subscription, 'active');
    };
    assert.deepEqual((await on.run()).outcome, { kind: 'retry', waitMs: 0 });
  });

  it('does not start at an old target once the change was answered', async () => {
    const stopped = await atEachStep((on) => {
      on.state.url = 'http://127.0.0.1:9001/';
      on.invalidation.changed(active.subscription, 'active');
    });
    // The others were held at the gate, and are released without an attempt.
    const urls = new Set(stopped.flatMap(({ attempt }) => attempt?.request.url ?? []));
    assert.deepEqual([...urls], ['http://127.0.0.1:9001/']);
  });
});

/**
 * Runs deliveries with a change after each possible number of steps before they start; returns what
 * they settled.
 */
async function atEachStep(
  change: (on: ReturnType<typeof stage>) => void,
): Promise<Awaited<ReturnType<typeof deliver>>[]> {
  const stopped: Awaited<ReturnType<typeof deliver>>[] = [];
  let wasLate = false;
  for (let steps = 0; !wasLate; steps += 1) {
    const on = stage();
    const running = on.run();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    wasLate = on.starts() > 0;
    if (!wasLate) change(on);
    const settlement = await running;
    if (!wasLate) stopped.push(settlement);
  }
  assert(stopped.length > 3, 'too few deliveries were stopped');
  return stopped;
}
