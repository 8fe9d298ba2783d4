// The cost of a foreign open transaction for claims and settlements on PostgreSQL, as ratios within
// one run. The transaction keeps every dead row, so scans would step over more and more of them.
// Floors skip rows that are some seconds old, so the rounds are that far apart (claims take the time
// as an argument), except in the last phase. Run: node bench/parts/store-long-transaction.ts
import { strict as assert } from 'node:assert';
import { Client } from 'pg';
import { limits } from '../../src/core/limits/limits.ts';
import type { FloorKeeper } from '../../src/store/postgres/batch/work.ts';
import { keepFloors } from '../../src/store/postgres/batch/work.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import { settlementOf } from '../../test/store/settlement.ts';
import { claimOn, openStage, publishOn, world } from '../../test/store/postgres-stage.ts';

const lanes = 99;
const rounds = 6;
const eventsPerRound = 60;
const claimRows = 128;
const apartMs = limits.floorMs + 1_000;

/** The time that claims are given. */
const clock = { ms: world.nowMs() };

const noFloors: FloorKeeper = {
  next: () => ({ readyMs: 0, isDropped: true }),
  observed: () => undefined,
};

const stage = await openStage();
for (let i = 0; i < 3; i += 1) await stage.subscribe('a', lanes / 3);
const phases = {
  alone: await phase(keepFloors(), apartMs),
  beside: await besideOpen(async () => phase(keepFloors(), apartMs)),
  besideWithoutFloors: await besideOpen(async () => phase(noFloors, apartMs)),
  besideAtOnce: await besideOpen(async () => phase(keepFloors(), 0)),
};
for (const [name, rates] of Object.entries(phases)) {
  const all = rates.map(Math.round).join(' ');
  const ratio = (median(rates) / median(phases.alone)).toFixed(2);
  console.log(`${name}: ${all} claimed and settled a second; ${ratio} of alone`);
}
await stage[Symbol.asyncDispose]();
process.exit(0); // A PostgreSQL server of our own would keep the process alive.

/** Returns the rates of the rounds, each of which claims and settles a backlog. */
async function phase(floors: FloorKeeper, waitMs: number): Promise<number[]> {
  const rates: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    clock.ms += waitMs;
    await fill();
    const startedMs = world.monotonicMs();
    const rows = await drain(floors);
    assert.equal(rows, eventsPerRound * lanes);
    rates.push(rows / ((world.monotonicMs() - startedMs) / 1000));
  }
  return rates;
}

async function fill(): Promise<void> {
  const publishes = Array.from({ length: eventsPerRound }, () => stage.publishing('a'));
  await stage.once(async (tx) => publishOn(tx, clock.ms, publishes));
}

async function drain(floors: FloorKeeper): Promise<number> {
  let rows = 0;
  for (;;) {
    const nowMs = (clock.ms += 1);
    const claimed = await stage.once(async (tx) => {
      return claimOn(tx, { nowMs, floors: floors.next(nowMs), room: claimRows });
    });
    floors.observed(claimed.firstReadyMs);
    rows += claimed.deliveries.length;
    const settlements = claimed.deliveries.map((one) => settlementOf(one, 'delivered', nowMs));
    if (settlements.length > 0) await stage.once(async (tx) => settleAll(tx, settlements, nowMs));
    if (rows === eventsPerRound * lanes) return rows;
  }
}

async function besideOpen<T>(body: () => Promise<T>): Promise<T> {
  await stage.database.query('vacuum');
  const client = new Client({ connectionString: stage.database.url });
  await client.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select pg_current_xact_id(), count(*) from ringback.lane');
  const result = await body();
  await client.end();
  return result;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
