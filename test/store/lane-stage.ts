// Common steps of the suites about lanes.
import { strict as assert } from 'node:assert';
import { type Controls, noControls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { callback, newSubscription, type OpenSubject } from './subject.ts';
import { type Outcome, settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';
import { freshStage } from './store-stage.ts';
import type { Room } from './test-dispatcher.ts';
import type { StoreStage } from './store-stage.ts';
import type { Callback } from '../../src/core/domain/subscription.ts';
import type { Settled } from '../../src/store/port/delivery-verbs.ts';

export const plenty: Room = { room: 64, laneRoom: 64 };

export interface LaneStage {
  on: StoreStage;
  subscribe: (controls?: Partial<Controls>, callbacks?: Callback[]) => Promise<string>;
  change: (id: string, changes: Partial<EditInput<'editSubscription'>>) => Promise<void>;
  choose: (id: string, controls?: Partial<Controls>) => Promise<void>;
  publishing: (events: number) => EditInput<'publish'>;
  publish: (events?: number) => Promise<string[]>;
  claim: (room?: Room) => Promise<readonly Leased[]>;
  settle: (leased: readonly Leased[], outcome?: Outcome, dueMs?: number) => Promise<Settled[]>;
  drain: () => Promise<Leased[]>;
  names: (some: readonly Leased[]) => string[];
  lanesOf: (some: readonly Leased[]) => number[];
}

/** What suites about lanes do on their stage. */
export function laneStage(open: OpenSubject): LaneStage {
  const on = freshStage(open);
  const { clock } = on;
  const two = [callback(0, 'a'), callback(1, 'a')];

  async function subscribe(controls: Partial<Controls> = {}, callbacks = two): Promise<string> {
    const chosen = { ...noControls, ...controls };
    const subscription = newSubscription(on.app, { callbacks, controls: chosen });
    const { kind } = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert.equal(kind, 'created');
    return subscription.id;
  }

  async function change(
    id: string,
    changes: Partial<EditInput<'editSubscription'>>,
  ): Promise<void> {
    const seen = await on.store.read('subscription', { appNo: on.app.no, id });
    const { kind } = await on.store.edit('editSubscription', {
      appNo: on.app.no,
      id,
      version: seen?.version ?? 0,
      state: undefined,
      urls: [],
      secrets: undefined,
      ...changes,
    });
    assert.equal(kind, 'edited');
  }

  async function choose(id: string, controls: Partial<Controls> = {}): Promise<void> {
    const chosen = { controls: { ...noControls, ...controls }, headers: undefined };
    await change(id, { chosen });
  }

  function publishing(events: number): EditInput<'publish'> {
    const payload = Buffer.from('1');
    return {
      appNo: on.app.no,
      contract: 'Ringback',
      events: Array.from({ length: events }, () => ({ id: newId(), name: 'a', payload })),
      audience: { kind: 'everyone' },
      idempotency: undefined,
    };
  }

  /** Returns the event ids; the deliveries stay pending. */
  async function publish(events = 1): Promise<string[]> {
    const input = publishing(events);
    await on.store.edit('publish', input);
    return input.events.map(({ id }) => id);
  }

  async function claim(room: Room = plenty): Promise<readonly Leased[]> {
    return (await on.dispatcher.claim(room)).claimed;
  }

  async function settle(
    leased: readonly Leased[],
    outcome: Outcome = 'delivered',
    dueMs = clock.ms,
  ) {
    const settlements = leased.map((one) => settlementOf(one, outcome, dueMs, clock.ms));
    return Promise.all(settlements.map(async (one) => on.store.settle(one)));
  }

  /** Claims and settles repeatedly until nothing is ready. */
  async function drain(): Promise<Leased[]> {
    const all: Leased[] = [];
    for (;;) {
      const some = await claim();
      if (some.length === 0) return all;
      await settle(some);
      all.push(...some);
    }
  }

  const names = (some: readonly Leased[]): string[] => some.map(({ event, n }) => `${event} ${n}`);
  const lanesOf = (some: readonly Leased[]): number[] => [...new Set(some.map(({ lane }) => lane))];
  return {
    on,
    subscribe,
    change,
    choose,
    publishing,
    publish,
    claim,
    settle,
    drain,
    names,
    lanesOf,
  };
}
