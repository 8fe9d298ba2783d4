// The state of the model: the expected state and lease of every delivery, and the counts. It also checks every lease
// against the rules of the lane.
import { strict as assert } from 'node:assert';
import type { StatementSync } from 'node:sqlite';
import type { App } from '../../src/core/domain/app.ts';
import type { DeliveryState, Leased } from '../../src/core/domain/delivery.ts';
import { noStatistics } from '../../src/core/telemetry/statistics.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import { newKey } from './subject.ts';
import { newId, openMemory } from './open-memory.ts';

export class Books {
  readonly store = openMemory();
  readonly app: App;
  /** Ids use the clock of the store, so that events have an age. */
  readonly newId = idMaker({ ...realWorld(), nowMs: () => this.store.clock.ms });
  subscriptions: string[] = [];
  /** Every delivery that was ever accepted, until it was deleted. */
  readonly deliveries = new Map<string, { state: DeliveryState; lane: number }>();
  /** Deliveries that this node has leased. */
  readonly held = new Map<string, Leased>();
  /** An event that a retention step has deleted in part. */
  half: unknown;
  leases = 0;
  readonly startMs = this.store.clock.ms;
  readonly #statements = new Map<string, StatementSync>();
  /** Counts so far. */
  readonly counts = noStatistics().counts;
  attempts = 0;
  /** For each rate-limited lane: the last start, and the unused time at that moment. */
  readonly #starts = new Map<number, { atMs: number; savedMs: number }>();

  constructor() {
    const id = newId();
    const output = this.store.edit('createApp', { id, name: id, key: newKey() });
    assert(output.kind === 'created');
    this.app = output.app;
  }

  hold(leased: Leased): void {
    const key = `${leased.event} ${leased.n}`;
    assert(!this.held.has(key), 'a delivery is leased twice');
    assert.equal(this.deliveries.get(key)?.state, 'due');
    assert.deepEqual(Buffer.from(leased.payload), payloadOf());
    this.held.set(key, leased);
    this.set(key, 'running');
    const sql = 'select state, interval_ms, concurrency from lane where no = ?';
    const [lane] = this.rows(sql, leased.lane);
    assert.equal(lane?.['state'], 0, 'only an open lane gives deliveries');
    assert.equal(leased.concurrency ?? null, lane['concurrency']);
    const running = [...this.held.values()].filter((one) => one.lane === leased.lane).length;
    assert(running <= (leased.concurrency ?? Infinity), 'a lane exceeds its concurrency limit');
    this.#checkRate(leased.lane, lane['interval_ms']);
  }

  /** Each start uses up its interval of the saved time, which is at most a second or one interval. */
  #checkRate(lane: number, intervalMs: unknown): void {
    if (typeof intervalMs !== 'number') {
      this.#starts.delete(lane);
      return;
    }
    const atMs = this.nowMs();
    const before = this.#starts.get(lane) ?? { atMs: 0, savedMs: 0 };
    const most = Math.max(1_000, intervalMs);
    const savedMs = Math.min(most, before.savedMs + atMs - before.atMs);
    assert(savedMs >= intervalMs - 0.02, 'a lane exceeds its rate limit');
    this.#starts.set(lane, { atMs, savedMs: savedMs - intervalMs });
  }

  offer(room: number, laneRoom: number): Offer {
    this.leases += 1;
    const free = new Map<number, number>();
    const inFlight = new Map<number, number>();
    for (const { lane } of this.held.values()) {
      free.set(lane, (free.get(lane) ?? laneRoom) - 1);
      inFlight.set(lane, (inFlight.get(lane) ?? 0) + 1);
    }
    return { lease: this.leases, room, free, inFlight, laneRoom };
  }

  end(key: string, state: 'delivered' | 'dead' | 'cancelled'): void {
    this.set(key, state);
    this.counts[state] += 1;
  }

  set(key: string, state: DeliveryState): void {
    const delivery = this.deliveries.get(key);
    assert(delivery !== undefined, `a delivery that nobody accepted: ${key}`);
    delivery.state = state;
  }

  accept(event: string, deliveries: number): void {
    this.counts.made += deliveries;
    for (let n = 0; n < deliveries; n += 1) {
      this.deliveries.set(`${event} ${n}`, { state: 'due', lane: 0 });
    }
  }

  pending(): number {
    const { due, running } = this.store.read('tally', {});
    return due + running;
  }

  nowMs(): number {
    return this.store.clock.ms;
  }

  rows(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
    const statement = this.#statements.get(sql) ?? this.store.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values);
  }
}

export function payloadOf(): Buffer {
  return Buffer.from('{"message":"hello"}');
}
