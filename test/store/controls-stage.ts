// Common steps of the suites about settings of subscriptions.
import { strict as assert } from 'node:assert';
import { beforeEach } from 'node:test';
import type { Controls } from '../../src/core/domain/controls.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { EditInput, EditOutput, NewSubscription } from '../../src/store/port/store.ts';
import { newSubscription, type OpenSubject } from './subject.ts';
import { keptStage } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';

export const world = realWorld();
export const all: Controls = {
  description: 'für Leute',
  metadata: { team: 'warehouse' },
  filter: { '/a': [1, null] },
  retryMs: [5_000, 300_000],
  timeoutMs: 500,
  concurrency: 4,
  signing: 'ed25519',
  ratePerSecond: 0.5,
  headerNames: ['Authorization'],
  ordered: true,
  expiresMs: undefined,
};

export interface ControlsStage {
  on: StoreStage;
  find: (id: string) => Promise<Subscription | undefined>;
  subscribed: (changes?: Partial<NewSubscription>) => Promise<Subscription>;
  tryEdit: (
    one: Subscription,
    changes: Partial<EditInput<'editSubscription'>>,
  ) => Promise<EditOutput<'editSubscription'>>;
  edit: (
    old: Subscription,
    changes: Partial<EditInput<'editSubscription'>>,
  ) => Promise<Subscription>;
  publishInput: (
    what: string,
    changes?: {
      payload?: Uint8Array;
      audience?: EditInput<'publish'>['audience'];
    },
  ) => EditInput<'publish'>;
  countMatches: (
    what: string,
    audience?: EditInput<'publish'>['audience'],
    contract?: string,
  ) => Promise<number | undefined>;
}

/** What suites about controls do on their stage. */
export function controlsStage(open: OpenSubject): ControlsStage {
  const on = keptStage(open, world.nowMs());
  const { newId } = on;
  beforeEach(() => {
    on.clock.ms += 10_000; // Subscriptions of earlier tests have expired by now.
  });

  async function find(id: string): Promise<Subscription | undefined> {
    return on.store.read('subscription', { appNo: on.app.no, id });
  }

  async function subscribed(changes: Partial<NewSubscription> = {}): Promise<Subscription> {
    const subscription = newSubscription(on.app, changes);
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    assert.deepEqual(await find(subscription.id), output.subscription);
    return output.subscription;
  }

  type Changes = Partial<EditInput<'editSubscription'>>;

  async function tryEdit({ id, version }: Subscription, changes: Changes) {
    const nothing = { state: undefined, urls: [], secrets: undefined };
    return on.store.edit('editSubscription', {
      appNo: on.app.no,
      id,
      version,
      ...nothing,
      ...changes,
    });
  }

  async function edit(old: Subscription, changes: Changes): Promise<Subscription> {
    const output = await tryEdit(old, changes);
    assert(output.kind === 'edited', output.kind);
    assert.deepEqual(await find(old.id), output.subscription);
    return output.subscription;
  }

  function publishInput(
    what: string,
    changes: { payload?: Uint8Array; audience?: EditInput<'publish'>['audience'] } = {},
  ): EditInput<'publish'> {
    const { payload = Buffer.from('{}'), audience = { kind: 'everyone' } } = changes;
    const events = [{ id: newId(), name: what, payload }];
    return { appNo: on.app.no, contract: 'Ringback', events, audience, idempotency: undefined };
  }

  /** How many deliveries an event of this name gets. */
  async function countMatches(
    what: string,
    audience: EditInput<'publish'>['audience'] = { kind: 'everyone' },
    contract = 'Ringback',
  ): Promise<number | undefined> {
    const output = await on.store.edit('publish', {
      ...publishInput(what, { audience }),
      contract,
    });
    assert(output.kind === 'accepted');
    return output.events[0]?.deliveries;
  }
  return { on, find, subscribed, tryEdit, edit, publishInput, countMatches };
}
