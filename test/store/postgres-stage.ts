// A database with lanes for the concurrency tests, with nodes, and transactions that a test runs step by step. Nothing here
// waits by the clock.
import { strict as assert } from 'node:assert';
import type { Client } from 'pg';
import type { Controls } from '../../src/core/domain/controls.ts';
import { noControls } from '../../src/core/domain/controls.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Claimed } from '../../src/store/postgres/deliver/claim.ts';
import { claim } from '../../src/store/postgres/deliver/claim.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import type { Published } from '../../src/store/postgres/publish/publish.ts';
import { publishAll } from '../../src/store/postgres/publish/publish.ts';
import { createSlices } from '../../src/store/postgres/publish/slices.ts';
import { beginOn } from '../../src/store/postgres/connection/transact.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { txOn } from '../../src/store/postgres/connection/tx.ts';
import type { ClusterOptions } from '../../src/store/open/open.ts';
import { openCluster } from '../../src/store/open/open.ts';
import { insertLeasesFor, slotsOf } from '../../src/store/rules/offer-slots.ts';
import type { EditInput, Store } from '../../src/store/port/store.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { newId } from './open-memory.ts';

export const world = realWorld();

export interface Stage extends AsyncDisposable {
  readonly database: Database;
  readonly appNo: number;
  /** The node that created the app; it is closed with the stage, like all others. */
  readonly store: Store;
  node(options?: Partial<ClusterOptions>): Promise<Store>;
  /** A subscription for only this event; `lane` is the first of its lanes. */
  subscribe(event: string, lanes?: number): Promise<{ id: string; lane: number }>;
  /** An ordered subscription. */
  subscribeOrdered(event: string): Promise<{ id: string; lane: number }>;
  publishing(event: string, more?: Partial<EditInput<'publish'>>): EditInput<'publish'>;
  /** A transaction with an assigned id, on a separate connection. */
  begin(): Promise<Step>;
  /** Runs a whole transaction. */
  once<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Waits until that many statements wait for a lock. */
  untilSomebodyWaits(count: number): Promise<void>;
}

export interface Step {
  readonly tx: Tx;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const database = await freshStoreDatabase();
  const nodes: Store[] = [];
  const clients: Client[] = [];
  const free: Client[] = [];
  const node: Stage['node'] = async (options = {}) => {
    const store = await insist(async () => openCluster({ url: database.url, world, ...options }));
    nodes.push(store);
    return store;
  };
  const store = await node();
  const app = await newApp(store);
  const another = async (): Promise<Client> => {
    const url = database.url;
    const onLost = (): void => undefined;
    const asked = { url, kind: 'engine', purpose: 'test', onLost, pipeline: true } as const;
    const client = await insist(async () => connect(asked));
    clients.push(client);
    return client;
  };
  const begin = async (): Promise<Step> => {
    const client = free.pop() ?? (await another());
    await beginOn(client);
    const end = async (word: 'commit' | 'rollback'): Promise<void> => {
      await client.query(word);
      free.push(client);
    };
    return {
      tx: txOn(client),
      commit: async () => end('commit'),
      rollback: async () => end('rollback'),
    };
  };
  const subscribeBy = async (
    event: string,
    lanes: number,
    controls: Controls,
  ): Promise<{ id: string; lane: number }> => {
    const callbacks = Array.from({ length: lanes }, (_, i) => callback(i, event));
    const subscription = newSubscription(app, { callbacks, controls });
    const made = await store.edit('subscribe', { subscription, idempotency: undefined });
    assert(made.kind === 'created');
    const { id } = made.subscription;
    const [row] = await database.query(
      `select lane.no from ringback.lane join ringback.subscription
         on subscription.no = lane.subscription where id = $1 order by lane.no`,
      [id],
    );
    return { id, lane: Number(row?.['no']) };
  };
  return {
    database,
    appNo: app.no,
    store,
    node,
    subscribe: async (event, lanes = 1) => subscribeBy(event, lanes, noControls),
    subscribeOrdered: async (event) => subscribeBy(event, 1, { ...noControls, ordered: true }),
    publishing: (event, more) => ({
      appNo: app.no,
      contract: 'Ringback',
      events: [{ id: newId(), name: event, payload: Buffer.from('{}') }],
      audience: { kind: 'everyone' },
      idempotency: undefined,
      ...more,
    }),
    begin,
    once: async (body) => {
      const step = await begin();
      const result = await body(step.tx);
      await step.commit();
      return result;
    },
    untilSomebodyWaits: async (count) => {
      const sql = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await database.query(sql)).length >= count);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map(async (client) => client.end()));
      await Promise.all(nodes.map(async (each) => each.close()));
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Without a lease there is no room for fresh deliveries, so they stay pending. */
export async function publishOn(
  tx: Tx,
  nowMs: number,
  calls: readonly EditInput<'publish'>[],
  lease?: number,
): Promise<Published[]> {
  const offer =
    lease === undefined
      ? undefined
      : { lease, room: 8, free: new Map(), inFlight: new Map(), laneRoom: 8 };
  const insertLeases = insertLeasesFor(offer);
  const left = { waiting: 0, fanOuts: 0 };
  const context = {
    nowMs,
    insertLeases,
    slices: createSlices(),
    listenerCache: undefined,
    left,
    facts: [],
  };
  const published = await publishAll(tx, calls, context);
  await published.answered;
  return published.replies;
}

/** An offer without room, so that published deliveries stay pending. */
export const leasedNone = { room: 0 };

export interface Looking {
  nowMs: number;
  lease?: number;
  lingerMs?: { least: number; most: number };
  floors?: { readyMs: number; isDropped: boolean };
  room?: number;
}

export async function claimOn(tx: Tx, looking: Looking): Promise<Claimed> {
  const { nowMs, lease = 1, room = 64 } = looking;
  const { lingerMs = { least: 50, most: 10_000 } } = looking;
  const { floors = { readyMs: 0, isDropped: false } } = looking;
  const slots = slotsOf({ lease, room, free: new Map(), inFlight: new Map(), laneRoom: room });
  return claim(tx, { slots, nowMs, floors, turns: { lastApp: 0 }, lingerMs });
}

/** Undefined if the store refused the call. */
export async function answered<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    assert(error instanceof StoreUnavailable || isTimeout(error), String(error));
    return undefined;
  }
}

/**
 * Repeats a refused call, as a client does: a cut connection may only be noticed at its next use, and an overloaded
 * machine may exceed the limits of 3 s for a connection or a lock.
 */
export async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (const _ of Array.from({ length: insistMax })) {
    const answer = await answered(ask());
    if (answer !== undefined) return answer;
  }
  return ask();
}

const insistMax = 9;

/** The driver's error for a timeout. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired';
}

/** An endless loop would keep the process alive after the test has failed. */
const patienceMs = 180_000;

export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = world.monotonicMs();
  while (!(await check())) {
    assert(world.monotonicMs() - startedMs < patienceMs, `Timed out waiting for: ${String(check)}`);
    await world.sleep(1);
  }
}
