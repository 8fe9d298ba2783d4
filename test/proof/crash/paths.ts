// The paths through the store that are killed at every write, each with its preparation. They are short on purpose:
// each point of each path runs in its own process.
import { strict as assert } from 'node:assert';
import type { DeliveryName, Leased } from '../../../src/core/domain/delivery.ts';
import type { EditInput, Store } from '../../../src/store/port/store.ts';
import { attempt, digest, newApp, newSubscription } from '../../store/subject.ts';
import { settlementOf, type Outcome } from '../../store/settlement.ts';
import { newId } from '../../store/open-memory.ts';
import { attachDispatcher, type Room, type TestDispatcher } from '../../store/test-dispatcher.ts';
import type { Say } from './history.ts';

/** The app and the subscriptions that were prepared, as plain values for the child process. */
export interface Stage {
  appNo: number;
  subscriptions: readonly string[];
}

export interface Path {
  prepare: (actor: Actor) => Promise<void>;
  act: (actor: Actor) => Promise<void>;
}

export const nowMs = 1_700_000_000_000;

export const paths = {
  publish: {
    prepare: async () => undefined,
    act: async (actor) => {
      await actor.publish('one');
      await actor.publish('batch', { size: 3, room: 2 });
      await Promise.all([actor.publish('left'), actor.publish('middle'), actor.publish('right')]);
      await actor.publish('addressed', { to: actor.subscription(0) });
      await actor.publish('one'); // Repeated with the same key: nothing may be written.
    },
  },
  claim: {
    prepare: async (actor) => {
      await actor.publish('waiting', { size: 4 });
    },
    act: async (actor) => {
      await actor.claim(2);
      await actor.claim(3);
      await actor.claim(20);
    },
  },
  settle: {
    prepare: async (actor) => {
      await actor.publish('waiting', { size: 3 });
      await actor.publish('last', { to: actor.subscription(2) });
    },
    act: async (actor) => {
      const held = await actor.claim(20);
      const [first, second, third, fourth, fifth, sixth] = held;
      assert(first && second && third && fourth && fifth && sixth);
      await actor.settle(first, 'delivered');
      await actor.settle(second, 'retry');
      await actor.settle(third, 'dead');
      await actor.settle(fourth, 'released');
      await actor.settle(fifth, 'cancelled');
      await actor.settle(sixth, 'gone');
      await Promise.all(held.slice(6).map(async (leased) => actor.settle(leased, 'delivered')));
    },
  },
  unsubscribe: {
    prepare: async (actor) => {
      await actor.publish('waiting', { size: 3 });
    },
    act: async (actor) => {
      await actor.claim(2);
      await actor.unsubscribe(0);
      await actor.sweep(2);
      await actor.publish('later');
      await actor.unsubscribe(1);
      await actor.sweep(100);
    },
  },
  retry: {
    prepare: async (actor) => {
      await actor.publish('ended');
      const [first, second, third] = await actor.claim(3);
      assert(first && second && third);
      await actor.settle(first, 'delivered');
      await actor.settle(second, 'dead');
      await actor.settle(third, 'cancelled');
    },
    act: async (actor) => {
      for (const { event, n } of await actor.ended()) await actor.retry({ event, n });
      for (const leased of await actor.claim(20)) await actor.settle(leased, 'delivered');
    },
  },
} as const satisfies Record<string, Path>;

export type PathName = keyof typeof paths;

export interface Publishing {
  size?: number;
  room?: number;
  to?: string | undefined;
  /** Padding added to each payload. */
  bytes?: number;
}

/** Calls a store, and writes each call and its result to the history. */
export class Actor {
  readonly #store: Store;
  readonly #stage: Stage;
  readonly #say: Say;
  readonly #dispatcher: TestDispatcher;

  constructor(store: Store, stage: Stage, say: Say) {
    this.#store = store;
    this.#stage = stage;
    this.#say = say;
    this.#dispatcher = attachDispatcher(store);
  }

  subscription(index: number): string {
    const id = this.#stage.subscriptions[index];
    assert(id !== undefined);
    return id;
  }

  async publish(tag: string, how: Publishing = {}): Promise<void> {
    const { size = 1, room = 0, to, bytes = 0 } = how;
    this.#say({ say: 'try publish', tag, size, to });
    const input = publishing({ appNo: this.#stage.appNo, tag, size, to, bytes });
    const { output, fresh } =
      room === 0
        ? { output: await this.#store.edit('publish', input), fresh: [] }
        : await this.#dispatcher.publish({ room }, input);
    this.#hold(fresh);
    assert(output.kind === 'accepted' || output.kind === 'repeated', output.kind);
    const events = output.events.map(({ id, deliveries }) =>
      deliveries === undefined ? { id } : { id, deliveries },
    );
    this.#say({ say: 'ack publish', tag, events });
  }

  async claim(room: number, more: Partial<Room> = {}): Promise<readonly Leased[]> {
    const { claimed } = await this.#dispatcher.claim({ room, ...more });
    this.#hold(claimed);
    return claimed;
  }

  async settle(leased: Leased, outcome: Outcome): Promise<void> {
    const { event, n } = leased;
    if (outcome === 'delivered') this.#say({ say: 'received', event, n });
    this.#say({ say: 'try settle', event, n, outcome });
    const settlement = settlementOf(leased, outcome, nowMs);
    const status = outcome === 'delivered' ? { status: 204, error: undefined } : {};
    const made = settlement.attempt === undefined ? undefined : attempt(status);
    await this.#store.settle({ ...settlement, attempt: made });
    this.#say({ say: 'ack settle', event, n, outcome });
  }

  async unsubscribe(index: number): Promise<void> {
    const id = this.subscription(index);
    this.#say({ say: 'try unsubscribe', id });
    const { kind } = await this.#store.edit('unsubscribe', { appNo: this.#stage.appNo, id });
    assert.equal(kind, 'ended');
    this.#say({ say: 'ack unsubscribe', id });
  }

  async sweep(limit: number): Promise<void> {
    await this.#store.edit('sweep', { limit });
  }

  async retry({ event, n }: DeliveryName): Promise<void> {
    this.#say({ say: 'try retry', event, n });
    const { appNo } = this.#stage;
    const output = await this.#store.edit('retryDelivery', { appNo, event, n });
    if (output.kind === 'due') this.#say({ say: 'ack retry', event, n, as: output.n });
  }

  async ended(): Promise<readonly DeliveryName[]> {
    const page = { limit: 100, after: undefined };
    const filter = {
      state: 'ended',
      event: undefined,
      subscription: undefined,
      name: undefined,
    } as const;
    const { appNo } = this.#stage;
    return (await this.#store.read('deliveries', { appNo, page, filter })).items;
  }

  #hold(leased: readonly DeliveryName[]): void {
    for (const { event, n } of leased) this.#say({ say: 'leased', event, n });
  }
}

/** Creates an app with three subscriptions that match every event. */
export async function makeStage(store: Store, say: Say): Promise<Stage> {
  const app = await newApp(store);
  say({ say: 'ack app', appNo: app.no });
  const subscriptions: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const subscription = newSubscription(app);
    const { kind } = await store.edit('subscribe', { subscription, idempotency: undefined });
    assert.equal(kind, 'created');
    say({ say: 'ack subscribe', id: subscription.id });
    subscriptions.push(subscription.id);
  }
  return { appNo: app.no, subscriptions };
}

interface Tagged {
  appNo: number;
  tag: string;
  size: number;
  to: string | undefined;
  bytes?: number;
}

/** Returns the same request for the same tag, so that it can be repeated. */
export function publishing({ appNo, tag, size, to, bytes = 0 }: Tagged): EditInput<'publish'> {
  return {
    appNo,
    contract: 'Ringback',
    events: Array.from({ length: size }, (_, i) => ({
      id: newId(),
      name: `${tag}.${i}`,
      payload: Buffer.from(JSON.stringify({ tag, i, padding: 'x'.repeat(bytes) })),
    })),
    audience:
      to === undefined
        ? ({ kind: 'everyone' } as const)
        : ({ kind: 'subscription', id: to } as const),
    idempotency: { key: digest(`key ${tag}`), print: digest(`print ${tag} ${size}`) },
  };
}
