// A model of deliveries that runs beside the real adapter. After each command, the rows must agree with the model.
import { strict as assert } from 'node:assert';
import { deliveryStates } from '../../src/core/domain/delivery.ts';
import {
  addStatistics,
  noStatistics,
  pendingOf,
  spanBetween,
} from '../../src/core/telemetry/statistics.ts';
import { Books } from './model-books.ts';
import type { Command } from './model-commands.ts';
import { address, edit, publish, retry, subscribe, unsubscribe } from './model-edits.ts';
import { broken, miscounted } from './model-rules.ts';
import { retain, sweep, tidyStatistics } from './model-upkeep.ts';
import {
  beginFanOut,
  cycle,
  isFanningOut,
  settle,
  settleStale,
  startNode,
  work,
} from './model-work.ts';
import { settlementOf } from './settlement.ts';

export class Model {
  readonly #books = new Books();

  run(command: Command): void {
    const books = this.#books;
    switch (command.kind) {
      case 'subscribe':
        subscribe(books, command);
        break;
      case 'choose':
        edit(books, command.who, undefined, command);
        break;
      case 'publish':
        publish(books, { kind: 'everyone' }, command);
        break;
      case 'address':
        address(books, command);
        break;
      case 'beginFanOut':
        beginFanOut(books, command.name);
        break;
      case 'work':
        work(books, command);
        break;
      case 'settle':
        settle(books, command);
        break;
      case 'settleStale':
        settleStale(books, command);
        break;
      case 'hold':
      case 'resume':
        edit(books, command.who, command.kind === 'hold' ? 'paused' : 'active');
        break;
      case 'unsubscribe':
        unsubscribe(books, command.who);
        break;
      case 'retry':
        retry(books, command.which);
        break;
      case 'sweep':
        sweep(books, command.limit);
        break;
      case 'retain':
        retain(books, command);
        break;
      case 'tidyStatistics':
        tidyStatistics(books, command.limit);
        break;
      case 'startNode':
        startNode(books);
        break;
      case 'wait':
        books.store.clock.ms += command.ms;
        break;
    }
    this.check();
  }

  /** Receivers recover and subscriptions are resumed: then everything must end. */
  heal(): void {
    const books = this.#books;
    startNode(books);
    for (const [who] of books.subscriptions.entries()) edit(books, who, 'active');
    for (let round = 0; books.pending() > 0 || isFanningOut(books); round += 1) {
      assert(round < 5_000, 'it does not end');
      const offer = books.offer(100, 100);
      const { claimed, readyMs } = cycle(books, [], offer, books.offer(0, 0));
      const settlements = claimed.map((leased) => settlementOf(leased, 'delivered', 0));
      if (settlements.length > 0) cycle(books, settlements, undefined, undefined);
      const cancelled = sweep(books, 10);
      const isStuck = claimed.length === 0 && cancelled === 0 && readyMs === undefined;
      assert(!isStuck || books.pending() === 0, 'a delivery is pending, but no claim will find it');
      const { clock } = books.store;
      if (readyMs !== undefined) clock.ms = Math.max(clock.ms + 1, readyMs);
    }
    this.check();
  }

  /** Much later, all events must have been deleted. */
  outlive(): void {
    const books = this.#books;
    books.store.clock.ms += 1_000;
    for (let step = 0; retain(books, { ageMs: 1, limit: 50 }); step += 1) {
      assert(step < 1_000, 'it does not end');
      this.check();
    }
    assert.equal(books.deliveries.size, 0);
    assert.deepEqual(books.rows('select id from event'), []);
  }

  check(): void {
    const books = this.#books;
    const expected = Object.fromEntries(deliveryStates.map((state) => [state, 0]));
    for (const { state } of books.deliveries.values()) expected[state] = (expected[state] ?? 0) + 1;
    assert.deepEqual({ ...books.store.read('tally', {}) }, expected);
    this.#checkCounts();
    for (const [what, sql] of Object.entries(broken)) {
      assert.deepEqual(books.rows(sql), [], what);
    }
    for (const [what, sql] of Object.entries(miscounted)) {
      const found = books.rows(sql).filter(({ event }) => event !== books.half);
      assert.deepEqual(found, [], what);
    }
  }

  /** Compares the statistics with the model. */
  #checkCounts(): void {
    const books = this.#books;
    const appNo = books.app.no;
    const found = books.store.read('counts', { appNo });
    assert.equal(pendingOf(found), books.pending(), 'pending by the figures');
    assert.deepEqual({ ...found }, books.counts, 'the figures of all time');
    const nowMs = books.nowMs();
    const span = spanBetween(books.startMs, nowMs + 1);
    const { steps } = books.store.read('appStatistics', { appNo, span });
    const sum = noStatistics();
    for (const { figures } of steps) addStatistics(sum, figures);
    assert.deepEqual(sum.counts, { ...found }, 'the figures by minute');
    const attempts = sum.took.reduce((all, count) => all + count, 0);
    assert.equal(attempts, books.attempts, 'attempts by how long they took');
  }
}
