// A model of deliveries beside the real adapter: it knows what every delivery must be, and after each
// command the rows have to agree with it.
import { strict as assert } from 'node:assert';
import type { StatementSync } from 'node:sqlite';
import type { App } from '../../src/core/app.ts';
import type { DeliveryState, Leased } from '../../src/core/delivery.ts';
import { deliveryStates } from '../../src/core/delivery.ts';
import type { Controls } from '../../src/core/controls.ts';
import { noControls } from '../../src/core/controls.ts';
import { addFigures, noFigures, pendingOf } from '../../src/core/figures.ts';
import { firstIdAt, idMaker } from '../../src/core/id.ts';
import { spanBetween } from '../../src/core/stats-span.ts';
import { realWorld } from '../../src/core/world.ts';
import type { Born, Offer, Settlement } from '../../src/store/delivery-verbs.ts';
import type { EditInput } from '../../src/store/store.ts';
import { broken, miscounted } from './broken-rows.ts';
import { attempt, callback, newKey, newSubscription } from './contract.ts';
import { newId, openMemory } from './open-memory.ts';

export type Outcome = Settlement['outcome']['kind'];

export type Command =
  | ({ kind: 'subscribe'; pattern: string } & Chosen)
  | ({ kind: 'choose'; who: number } & Chosen)
  | { kind: 'publish'; name: string; events: number; room: number }
  | { kind: 'address'; who: number; how: 'subscription' | 'all_callbacks'; room: number }
  | { kind: 'beginFanOut'; name: string }
  | { kind: 'work'; room: number; laneRoom: number; fanOut: boolean; settle: Outcome[] }
  | { kind: 'settle'; which: number; outcome: Outcome; waitMs: number }
  | { kind: 'settleStale'; which: number; outcome: Outcome }
  | { kind: 'hold' | 'resume' | 'unsubscribe'; who: number }
  | { kind: 'retry'; which: number }
  | { kind: 'sweep'; limit: number }
  | { kind: 'retain'; ageMs: number; limit: number }
  | { kind: 'tidyFigures'; limit: number }
  | { kind: 'startNode' }
  | { kind: 'wait'; ms: number };

/** What makes lanes differ. */
export interface Chosen {
  ordered: boolean;
  rate: number | undefined;
  concurrency: number | undefined;
}

const slots = 4;

export class Model {
  readonly #store = openMemory();
  readonly #app: App;
  /** Ids by the clock of the store, so that events have an age. */
  readonly #newId = idMaker({ ...realWorld(), nowMs: () => this.#store.clock.ms });
  #subscriptions: string[] = [];
  /** Every delivery that was ever accepted, until it was deleted. */
  readonly #deliveries = new Map<string, { state: DeliveryState; lane: number }>();
  /** What this node believes to hold. */
  readonly #held = new Map<string, Leased>();
  /** An event of which a step of the retention deleted a part. */
  #half: unknown;
  #leases = 0;
  readonly #startMs = this.#store.clock.ms;
  readonly #statements = new Map<string, StatementSync>();
  /** What happened so far, and attempts among it. */
  readonly #counts = noFigures().counts;
  #attempts = 0;
  /** Of each limited lane: when one started last, and the time that was saved up then. */
  readonly #starts = new Map<number, { atMs: number; savedMs: number }>();

  constructor() {
    const id = newId();
    const output = this.#store.edit('createApp', { id, name: id, key: newKey() });
    assert(output.kind === 'created');
    this.#app = output.app;
  }

  run(command: Command): void {
    switch (command.kind) {
      case 'subscribe':
        this.#subscribe(command);
        break;
      case 'choose':
        this.#edit(command.who, undefined, command);
        break;
      case 'publish':
        this.#publish({ kind: 'everyone' }, command);
        break;
      case 'address':
        this.#address(command);
        break;
      case 'beginFanOut':
        this.#beginFanOut(command.name);
        break;
      case 'work':
        this.#work(command);
        break;
      case 'settle':
        this.#settle(command);
        break;
      case 'settleStale':
        this.#settleStale(command);
        break;
      case 'hold':
      case 'resume':
        this.#edit(command.who, command.kind === 'hold' ? 'paused' : 'active');
        break;
      case 'unsubscribe':
        this.#unsubscribe(command.who);
        break;
      case 'retry':
        this.#retry(command.which);
        break;
      case 'sweep':
        this.#sweep(command.limit);
        break;
      case 'retain':
        this.#retain(command);
        break;
      case 'tidyFigures':
        this.#tidyFigures(command.limit);
        break;
      case 'startNode':
        this.#startNode();
        break;
      case 'wait':
        this.#store.clock.ms += command.ms;
        break;
    }
    this.check();
  }

  /** Receivers recover, nobody is paused any more: then everything must end. */
  heal(): void {
    this.#startNode();
    for (const [who] of this.#subscriptions.entries()) this.#edit(who, 'active');
    for (let round = 0; this.#pending() > 0 || this.#isFanningOut(); round += 1) {
      assert(round < 5_000, 'it does not end');
      const offer = this.#offer(100, 100);
      const { claimed, readyMs } = this.#cycle([], offer, this.#offer(0, 0));
      const settlements = claimed.map((leased) => settlementOf(leased, 'delivered', 0));
      if (settlements.length > 0) this.#cycle(settlements, undefined, undefined);
      const cancelled = this.#sweep(10);
      const isStuck = claimed.length === 0 && cancelled === 0 && readyMs === undefined;
      assert(!isStuck || this.#pending() === 0, 'something waits and nobody will ever look');
      const { clock } = this.#store;
      if (readyMs !== undefined) clock.ms = Math.max(clock.ms + 1, readyMs);
    }
    this.check();
  }

  /** Much later nothing is left of all events. */
  outlive(): void {
    this.#store.clock.ms += 1_000;
    for (let step = 0; this.#retain({ ageMs: 1, limit: 50 }); step += 1) {
      assert(step < 1_000, 'it does not end');
      this.check();
    }
    assert.equal(this.#deliveries.size, 0);
    assert.deepEqual(this.#rows('select id from event'), []);
  }

  check(): void {
    const expected = Object.fromEntries(deliveryStates.map((state) => [state, 0]));
    for (const { state } of this.#deliveries.values()) expected[state] = (expected[state] ?? 0) + 1;
    assert.deepEqual({ ...this.#store.read('tally', {}) }, expected);
    this.#checkCounts();
    for (const [what, sql] of Object.entries(broken)) {
      assert.deepEqual(this.#rows(sql), [], what);
    }
    for (const [what, sql] of Object.entries(miscounted)) {
      const found = this.#rows(sql).filter(({ event }) => event !== this.#half);
      assert.deepEqual(found, [], what);
    }
  }

  /** What the figures say, against what the model saw happen. */
  #checkCounts(): void {
    const appNo = this.#app.no;
    const found = this.#store.read('counts', { appNo });
    assert.equal(pendingOf(found), this.#pending(), 'pending by the figures');
    assert.deepEqual({ ...found }, this.#counts, 'the figures of all time');
    const nowMs = this.#nowMs();
    const span = spanBetween(this.#startMs, nowMs + 1);
    const { steps } = this.#store.read('appFigures', { appNo, span });
    const sum = noFigures();
    for (const { figures } of steps) addFigures(sum, figures);
    assert.deepEqual(sum.counts, { ...found }, 'the figures by minute');
    const attempts = sum.took.reduce((all, count) => all + count, 0);
    assert.equal(attempts, this.#attempts, 'attempts by how long they took');
  }

  #subscribe({ pattern, ...chosen }: Extract<Command, { kind: 'subscribe' }>): void {
    const callbacks = [callback(0, pattern), callback(1, 'a')];
    const subscription = newSubscription(this.#app, { callbacks, controls: controlsOf(chosen) });
    this.#store.edit('subscribe', { subscription, idempotency: undefined });
    this.#subscriptions.push(subscription.id);
  }

  #publish(
    audience: EditInput<'publish'>['audience'],
    { name, events, room }: { name: string; events: number; room: number },
  ): string {
    const input: EditInput<'publish'> = {
      appNo: this.#app.no,
      contract: 'Ringback',
      events: Array.from({ length: events }, () => ({
        id: this.#newId(),
        name,
        payload: payloadOf(),
      })),
      audience,
      idempotency: undefined,
    };
    const offer = this.#offer(room, slots);
    const { output, born } = this.#store.offering(offer, 'publish', input);
    if (output.kind !== 'accepted') return output.kind;
    for (const { id, deliveries = 0 } of output.events) this.#accept(id, deliveries);
    this.#counts.published += output.events.length;
    assert(born.length <= room);
    for (const one of born) this.#bear(one, offer, name);
    return output.kind;
  }

  #address({ who, how, room }: Extract<Command, { kind: 'address' }>): void {
    const id = this.#subscriptions[who % Math.max(this.#subscriptions.length, 1)] ?? newId();
    const found = this.#store.read('subscription', { appNo: this.#app.no, id });
    const isThere = found !== undefined && found.state !== 'ended';
    const kind = this.#publish({ kind: how, id }, { name: 'a', events: 1, room });
    assert.equal(kind, isThere ? 'accepted' : 'not_found');
  }

  /** As a publish with more listeners than can be served at once. */
  #beginFanOut(name: string): void {
    const id = this.#newId();
    const appNo = this.#app.no;
    this.#store.db
      .prepare('insert into event (id, app, name, slice, created_ms, payload) values (?,?,?,1,1,?)')
      .run(id, appNo, name, payloadOf());
    this.#store.db
      .prepare(
        `insert into fanout (event, app, contract, version, names)
         select ?, no, 'Ringback', version, ? from app where no = ?`,
      )
      .run(id, JSON.stringify([name, '*']), appNo);
  }

  #work({ room, laneRoom, fanOut, settle }: Extract<Command, { kind: 'work' }>): void {
    const held = [...this.#held.values()];
    const settlements = settle.flatMap((outcome, index) => {
      const leased = held[index];
      return leased === undefined ? [] : [settlementOf(leased, outcome, this.#nowMs() + 100)];
    });
    this.#cycle(settlements, this.#offer(room, laneRoom), fanOut ? this.#offer(2, 1) : undefined);
  }

  #settle({ which, outcome, waitMs }: Extract<Command, { kind: 'settle' }>): void {
    const leased = [...this.#held.values()][which % Math.max(this.#held.size, 1)];
    if (leased === undefined) return;
    const settlement = settlementOf(leased, outcome, this.#nowMs() + waitMs);
    this.#cycle([settlement], undefined, undefined);
  }

  /** A token that was valid once, or never. */
  #settleStale({ which, outcome }: Extract<Command, { kind: 'settleStale' }>): void {
    const [event, n] = ([...this.#deliveries.keys()][which % 50] ?? `${newId()} 0`).split(' ');
    const lease = which % 2 === 0 ? 2 ** 40 : this.#leases + 1;
    const name = { event: event ?? '', n: Number(n) };
    const before = this.#store.db.prepare('select total_changes() as n').get();
    const settlement = settlementOf({ ...name, lease }, outcome, this.#nowMs());
    const { settled } = this.#store.work({ settlements: [settlement] });
    assert.deepEqual(settled, [{ kind: 'stale' }]);
    assert.deepEqual(this.#store.db.prepare('select total_changes() as n').get(), before);
  }

  /** One cycle of work, with everything that must be true of it. */
  #cycle(settlements: Settlement[], claim: Offer | undefined, fanOut: Offer | undefined) {
    const ended = new Set(this.#rows('select no from lane where state = 2').map(({ no }) => no));
    const lanesBefore = new Map(settlements.map((one) => [one, this.#laneOf(one)]));
    const fanning = this.#rows('select event, made from fanout order by event limit 1')[0];
    const worked = this.#store.work({ settlements, claim, fanOut });
    for (const [index, settlement] of settlements.entries()) {
      const kind = settlement.outcome.kind === 'gone' ? 'gone' : 'settled';
      assert.equal(worked.settled[index]?.kind, kind);
      const isEnded = ended.has(lanesBefore.get(settlement) ?? 0);
      this.#follow(settlement, isEnded);
      if (worked.settled[index]?.kind === 'gone') {
        for (const lane of worked.settled[index].lanes) ended.add(lane);
      }
    }
    if (fanOut !== undefined && fanning !== undefined) this.#acceptFanOut(String(fanning['event']));
    assert(worked.claimed.length <= (claim?.room ?? 0));
    for (const leased of worked.claimed) {
      assert(!ended.has(leased.lane), 'a lane that has ended was claimed from');
      this.#hold(leased);
    }
    for (const leased of worked.fannedOut.deliveries) {
      assert(!ended.has(leased.lane), 'a fan-out reached a lane that has ended');
      this.#hold(leased);
    }
    return worked;
  }

  #follow({ event, n, outcome, attempt: made }: Settlement, isEnded: boolean): void {
    const key = `${event} ${n}`;
    this.#held.delete(key);
    const isBack = outcome.kind === 'retry' || outcome.kind === 'released';
    if (outcome.kind === 'delivered' || outcome.kind === 'dead') this.#end(key, outcome.kind);
    else if (isBack && !isEnded) this.#set(key, 'due');
    else this.#end(key, 'cancelled');
    if (outcome.kind === 'retry' && !isEnded) this.#counts.retried += 1;
    if (made !== undefined) this.#attempts += 1;
  }

  #edit(who: number, state: 'active' | 'paused' | undefined, chosen?: Chosen): void {
    const id = this.#subscriptions[who % Math.max(this.#subscriptions.length, 1)];
    if (id === undefined) return;
    const appNo = this.#app.no;
    const found = this.#store.read('subscription', { appNo, id });
    assert(found !== undefined);
    const { kind } = this.#store.edit('editSubscription', {
      appNo,
      id,
      version: found.version,
      state,
      urls: [],
      secrets: undefined,
      chosen: chosen && { controls: controlsOf(chosen), headers: undefined },
    });
    assert.equal(kind, found.state === 'ended' ? 'ended' : 'edited');
  }

  #unsubscribe(who: number): void {
    const id = this.#subscriptions[who % Math.max(this.#subscriptions.length, 1)];
    if (id !== undefined) this.#store.edit('unsubscribe', { appNo: this.#app.no, id });
  }

  #retry(which: number): void {
    const key = [...this.#deliveries.keys()][which % Math.max(this.#deliveries.size, 1)];
    if (key === undefined) return;
    const [event = '', n] = key.split(' ');
    const before = this.#deliveries.get(key);
    const output = this.#store.edit('retryDelivery', {
      appNo: this.#app.no,
      event,
      n: Number(n),
    });
    if (output.kind === 'due') {
      const isDead = before?.state === 'dead';
      assert.equal(output.n === Number(n), isDead);
      this.#counts[isDead ? 'revived' : 'made'] += 1;
      if (isDead) this.#set(key, 'due');
      else this.#deliveries.set(`${event} ${output.n}`, { state: 'due', lane: before?.lane ?? 0 });
    } else {
      const isPending = before?.state === 'due' || before?.state === 'running';
      assert.equal(output.kind, isPending ? 'pending' : 'ended');
    }
  }

  #sweep(limit: number): number {
    const { cancelled } = this.#store.edit('sweep', { limit });
    assert(cancelled <= limit);
    const found = this.#rows('select event, n from delivery_done where state = 3');
    const gone = found.map(({ event, n }) => `${String(event)} ${String(n)}`);
    const fresh = gone.filter((key) => this.#deliveries.get(key)?.state === 'due');
    assert.equal(fresh.length, cancelled);
    for (const key of fresh) this.#end(key, 'cancelled');
    return cancelled;
  }

  /** What waits past its time ends; what has ended may go; what is young or runs does neither. */
  #retain({ ageMs, limit }: { ageMs: number; limit: number }): boolean {
    const beforeMs = this.#nowMs() - ageMs;
    const below = firstIdAt(beforeMs);
    const due = [...this.#deliveries].filter(([, { state }]) => state === 'due');
    const rowsBefore = this.#countRows();
    const { expired, deleted, isMore } = this.#store.edit('retain', { beforeMs, limit });
    assert(deleted <= limit);
    // What ended and went in one step leaves no row behind.
    const ended = due.filter(([key]) => !this.#isLive(key));
    assert.equal(rowsBefore - this.#countRows(), deleted);
    assert(expired <= ended.length && ended.length <= limit);
    this.#counts.dead += expired;
    this.#counts.cancelled += ended.length - expired;
    for (const [key] of ended) {
      assert(key < below, 'what is young has expired');
      this.#set(key, this.#endOf(key) ?? 'dead');
    }
    for (const [key, { state }] of this.#deliveries) {
      if (this.#isLive(key) || this.#endOf(key) !== undefined) continue;
      assert(key < below, 'what is young was deleted');
      assert(state !== 'due' && state !== 'running', 'what is pending was deleted');
      this.#deliveries.delete(key);
    }
    this.#subscriptions = this.#subscriptions.filter(
      (id) => this.#store.read('subscription', { appNo: this.#app.no, id }) !== undefined,
    );
    if (deleted > 0 && isMore)
      this.#half = this.#rows('select min(id) as id from event')[0]?.['id'];
    return isMore;
  }

  /** Nothing is too old here: what was counted can be added up. */
  #tidyFigures(limit: number): void {
    const keepMs = this.#nowMs();
    const ofSubscriptions = { subscriptionFineMs: keepMs, subscriptionKeepMs: keepMs };
    const input = { appKeepMs: keepMs, ...ofSubscriptions, limit };
    const { moved, isMore } = this.#store.edit('tidyFigures', input);
    assert(moved <= limit && isMore === (moved === limit));
  }

  #isLive(key: string): boolean {
    const [event = '', n] = key.split(' ');
    const sql = 'select 1 from delivery_live where event = ? and n = ?';
    return this.#rows(sql, event, Number(n)).length > 0;
  }

  #endOf(key: string): DeliveryState | undefined {
    const [event = '', n] = key.split(' ');
    const sql = 'select state from delivery_done where event = ? and n = ?';
    const [row] = this.#rows(sql, event, Number(n));
    return row === undefined ? undefined : ends[Number(row['state'])];
  }

  /** Of all that the retention may delete. */
  #countRows(): number {
    const tables = ['response', 'attempt', 'delivery_done', 'delivery_live', 'event'];
    const made = ['pattern', 'callback', 'lane', 'subscription'];
    const counts = [...tables, ...made].map((table) => `(select count(*) from ${table})`);
    return Number(this.#rows(`select ${counts.join(' + ')} as n`)[0]?.['n']);
  }

  #startNode(): void {
    const input = { name: 'here', role: 'all', version: '1', aloneHere: true } as const;
    const { node, freed } = this.#store.edit('startNode', input);
    assert.equal(freed, this.#held.size);
    for (const key of this.#held.keys()) this.#set(key, 'due');
    this.#held.clear();
    this.#leases = node * 2 ** 32;
  }

  #accept(event: string, deliveries: number): void {
    this.#counts.made += deliveries;
    for (let n = 0; n < deliveries; n += 1) {
      this.#deliveries.set(`${event} ${n}`, { state: 'due', lane: 0 });
    }
  }

  #acceptFanOut(event: string): void {
    for (const { n } of this.#rows(
      `select n from delivery_live where event = ?1
       union all select n from delivery_done where event = ?1`,
      event,
    )) {
      const key = `${event} ${String(n)}`;
      if (this.#deliveries.has(key)) continue;
      this.#deliveries.set(key, { state: 'due', lane: 0 });
      this.#counts.made += 1;
    }
  }

  #bear(born: Born, { lease }: Offer, eventName: string): void {
    const sent = { eventName, payload: payloadOf(), trace: undefined };
    this.#hold({ ...born, ...sent, tries: 0, attempts: 0, lease });
  }

  #hold(leased: Leased): void {
    const key = `${leased.event} ${leased.n}`;
    assert(!this.#held.has(key), 'a delivery is leased twice');
    assert.equal(this.#deliveries.get(key)?.state, 'due');
    assert.deepEqual(Buffer.from(leased.payload), payloadOf());
    this.#held.set(key, leased);
    this.#set(key, 'running');
    const sql = 'select state, interval_ms, concurrency from lane where no = ?';
    const [lane] = this.#rows(sql, leased.lane);
    assert.equal(lane?.['state'], 0, 'only an open lane gives deliveries');
    assert.equal(leased.concurrency ?? null, lane['concurrency']);
    const running = [...this.#held.values()].filter((one) => one.lane === leased.lane).length;
    assert(running <= (leased.concurrency ?? Infinity), 'more of a lane than it wants at a time');
    this.#checkRate(leased.lane, lane['interval_ms']);
  }

  /** Each start takes its time out of what was saved up, which is a second, or enough for one. */
  #checkRate(lane: number, intervalMs: unknown): void {
    if (typeof intervalMs !== 'number') {
      this.#starts.delete(lane);
      return;
    }
    const atMs = this.#nowMs();
    const before = this.#starts.get(lane) ?? { atMs: 0, savedMs: 0 };
    const most = Math.max(1_000, intervalMs);
    const savedMs = Math.min(most, before.savedMs + atMs - before.atMs);
    assert(savedMs >= intervalMs - 0.02, 'a lane is faster than its limit');
    this.#starts.set(lane, { atMs, savedMs: savedMs - intervalMs });
  }

  #offer(room: number, laneRoom: number): Offer {
    this.#leases += 1;
    const free = new Map<number, number>();
    const underWay = new Map<number, number>();
    for (const { lane } of this.#held.values()) {
      free.set(lane, (free.get(lane) ?? laneRoom) - 1);
      underWay.set(lane, (underWay.get(lane) ?? 0) + 1);
    }
    return { lease: this.#leases, room, free, underWay, laneRoom };
  }

  #laneOf({ event, n }: Settlement): number {
    const [row] = this.#rows(
      `select lane from delivery_live where event = '${event}' and n = ${n}`,
    );
    return Number(row?.['lane']);
  }

  #end(key: string, state: 'delivered' | 'dead' | 'cancelled'): void {
    this.#set(key, state);
    this.#counts[state] += 1;
  }

  #set(key: string, state: DeliveryState): void {
    const delivery = this.#deliveries.get(key);
    assert(delivery !== undefined, `a delivery that nobody accepted: ${key}`);
    delivery.state = state;
  }

  #pending(): number {
    const { due, running } = this.#store.read('tally', {});
    return due + running;
  }

  #isFanningOut(): boolean {
    return this.#rows('select event from fanout').length > 0;
  }

  #nowMs(): number {
    return this.#store.clock.ms;
  }

  #rows(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
    const statement = this.#statements.get(sql) ?? this.#store.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values);
  }
}

function controlsOf({ ordered, rate: ratePerSecond, concurrency }: Chosen): Controls {
  return { ...noControls, ordered, ratePerSecond, concurrency };
}

/** As the table delivery_done writes them. */
const ends: readonly (DeliveryState | undefined)[] = [undefined, 'delivered', 'dead', 'cancelled'];

export function settlementOf(
  { event, n, lease }: Pick<Leased, 'event' | 'n' | 'lease'>,
  kind: Outcome,
  dueMs: number,
): Settlement {
  const name = { event, n, lease };
  switch (kind) {
    case 'delivered':
    case 'gone':
      return { ...name, outcome: { kind }, attempt: attempt() };
    case 'cancelled':
      return { ...name, outcome: { kind }, attempt: undefined };
    case 'retry':
      return { ...name, outcome: { kind, dueMs }, attempt: attempt({ startedMs: dueMs }) };
    case 'dead':
      return { ...name, outcome: { kind, reason: 'exhausted' }, attempt: attempt() };
    case 'released':
      return { ...name, outcome: { kind, dueMs }, attempt: undefined };
  }
}

function payloadOf(): Buffer {
  return Buffer.from('{"message":"hello"}');
}
