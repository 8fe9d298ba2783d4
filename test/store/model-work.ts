// Work of a node, applied to the model and to the store: claims, settlements, fan-outs and restarts.
import { strict as assert } from 'node:assert';
import type { Offer, Settlement } from '../../src/store/port/delivery-verbs.ts';
import { type Books, payloadOf } from './model-books.ts';
import type { Command } from './model-commands.ts';
import { newId, type DoneWork } from './open-memory.ts';
import { settlementOf } from './settlement.ts';

export function work(
  books: Books,
  { room, laneRoom, fanOut, settle: outcomes }: Extract<Command, { kind: 'work' }>,
): void {
  const held = [...books.held.values()];
  const settlements = outcomes.flatMap((outcome, index) => {
    const leased = held[index];
    return leased === undefined
      ? []
      : [settlementOf(leased, outcome, books.nowMs() + 100, books.nowMs())];
  });
  cycle(books, settlements, books.offer(room, laneRoom), fanOut ? books.offer(2, 1) : undefined);
}

export function settle(
  books: Books,
  { which, outcome, waitMs }: Extract<Command, { kind: 'settle' }>,
): void {
  const leased = [...books.held.values()][which % Math.max(books.held.size, 1)];
  if (leased === undefined) return;
  const settlement = settlementOf(leased, outcome, books.nowMs() + waitMs, books.nowMs());
  cycle(books, [settlement], undefined, undefined);
}

/** Settles with a lease that has expired or never existed. */
export function settleStale(
  books: Books,
  { which, outcome }: Extract<Command, { kind: 'settleStale' }>,
): void {
  const [event, n] = ([...books.deliveries.keys()][which % 50] ?? `${newId()} 0`).split(' ');
  const lease = which % 2 === 0 ? 2 ** 40 : books.leases + 1;
  const name = { event: event ?? '', n: Number(n) };
  const before = books.store.db.prepare('select total_changes() as n').get();
  const settlement = settlementOf({ ...name, lease }, outcome, books.nowMs());
  const { settled } = books.store.work({ settlements: [settlement] });
  assert.deepEqual(settled, [{ kind: 'stale' }]);
  assert.deepEqual(books.store.db.prepare('select total_changes() as n').get(), before);
}

/** Runs one cycle of work, and checks its result. */
export function cycle(
  books: Books,
  settlements: Settlement[],
  claim: Offer | undefined,
  fanOut: Offer | undefined,
): DoneWork {
  const ended = new Set(books.rows('select no from lane where state = 2').map(({ no }) => no));
  const lanesBefore = new Map(settlements.map((one) => [one, laneOf(books, one)]));
  const fanning = books.rows('select event, made from fanout order by event limit 1')[0];
  const worked = books.store.work({ settlements, claim, fanOut });
  for (const [index, settlement] of settlements.entries()) {
    const kind = settlement.outcome.kind === 'gone' ? 'gone' : 'settled';
    assert.equal(worked.settled[index]?.kind, kind);
    const isEnded = ended.has(lanesBefore.get(settlement) ?? 0);
    follow(books, settlement, isEnded);
    if (worked.settled[index]?.kind === 'gone') {
      for (const lane of worked.settled[index].lanes) ended.add(lane);
    }
  }
  if (fanOut !== undefined && fanning !== undefined) acceptFanOut(books, String(fanning['event']));
  assert(worked.claimed.length <= (claim?.room ?? 0));
  for (const leased of worked.claimed) {
    assert(!ended.has(leased.lane), 'a lane that has ended was claimed from');
    books.hold(leased);
  }
  for (const leased of worked.fannedOut.deliveries) {
    assert(!ended.has(leased.lane), 'a fan-out reached a lane that has ended');
    books.hold(leased);
  }
  return worked;
}

function laneOf(books: Books, { event, n }: Settlement): number {
  const [row] = books.rows(`select lane from delivery_live where event = '${event}' and n = ${n}`);
  return Number(row?.['lane']);
}

function follow(
  books: Books,
  { event, n, outcome, attempt: made }: Settlement,
  isEnded: boolean,
): void {
  const key = `${event} ${n}`;
  books.held.delete(key);
  const isBack = outcome.kind === 'retry' || outcome.kind === 'released';
  if (outcome.kind === 'delivered' || outcome.kind === 'dead') books.end(key, outcome.kind);
  else if (isBack && !isEnded) books.set(key, 'due');
  else books.end(key, 'cancelled');
  if (outcome.kind === 'retry' && !isEnded) books.counts.retried += 1;
  if (made !== undefined) books.attempts += 1;
}

function acceptFanOut(books: Books, event: string): void {
  for (const { n } of books.rows(
    `select n from delivery_live where event = ?1
     union all select n from delivery_done where event = ?1`,
    event,
  )) {
    const key = `${event} ${String(n)}`;
    if (books.deliveries.has(key)) continue;
    books.deliveries.set(key, { state: 'due', lane: 0 });
    books.counts.made += 1;
  }
}

/** Like a publish that needs a large fan-out. */
export function beginFanOut(books: Books, name: string): void {
  const id = books.newId();
  const appNo = books.app.no;
  books.store.db
    .prepare('insert into event (id, app, name, slice, created_ms, payload) values (?,?,?,1,1,?)')
    .run(id, appNo, name, payloadOf());
  books.store.db
    .prepare(
      `insert into fanout (event, app, contract, version, names)
       select ?, no, 'Ringback', version, ? from app where no = ?`,
    )
    .run(id, JSON.stringify([name, '*']), appNo);
}

export function isFanningOut(books: Books): boolean {
  return books.rows('select event from fanout').length > 0;
}

export function startNode(books: Books): void {
  const input = { name: 'here', role: 'all', version: '1', aloneHere: true } as const;
  const { node, freed } = books.store.edit('startNode', input);
  assert.equal(freed, books.held.size);
  for (const key of books.held.keys()) books.set(key, 'due');
  books.held.clear();
  books.leases = node * 2 ** 32;
}
