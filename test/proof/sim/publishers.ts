// Publishers: they repeat what was not answered if it has a key, publish one or several at once, and write
// down what they were told.
import { Problem } from '../../../src/core/errors/problem.ts';
import type { PublishCall } from '../invariants/history.ts';
import { publishIn } from './engine-calls.ts';
import type { Simulation } from './node.ts';
import { triesMax, type ExternalDeps } from './outside-clients.ts';
import type { Publishing, Writable } from './records.ts';

export const eventNames = ['order.created', 'order.paid'];
/** What filters ask for is from 0 to this. */
export const kindMax = 9;
const batchMax = 6;

export class Publishers {
  readonly publishes: Publishing[] = [];
  readonly #sim: Simulation;
  readonly #outside: ExternalDeps;

  constructor(sim: Simulation, outside: ExternalDeps) {
    this.#sim = sim;
    this.#outside = outside;
  }

  async publish(): Promise<void> {
    const { chance, plan, counters } = this.#sim;
    const count = chance.isLucky(plan.batchShare) ? chance.whole(2, batchMax) : 1;
    const isKeyed = chance.isLucky(plan.keyedShare);
    const key = isKeyed ? `key-m${this.publishes.length}` : undefined;
    const records = Array.from({ length: count }, () => this.#newRecord(key));
    counters.published += count;
    let isDone = false;
    for (let tries = 0; tries < (isKeyed ? triesMax : 1) && !isDone; tries += 1) {
      isDone = await this.#publishOnce(records);
      if (!isDone) await this.#outside.wait(chance.between(100, 3_000));
    }
    if (!isDone) return;
    counters.acknowledged += count;
    if (!isKeyed || !chance.isLucky(0.2)) return;
    await this.#outside.wait(chance.between(1, 2_000));
    if (chance.isLucky(0.5)) {
      if (await this.#publishOnce(records)) counters.repeatedKey += 1;
    } else await this.#publishOther(records);
  }

  #newRecord(key: string | undefined): Publishing {
    const { chance } = this.#sim;
    const marker = `m${this.publishes.length}`;
    const kind = chance.whole(0, kindMax);
    // Bytes that nobody would write twice the same way.
    const body = `{ "message":"${marker}", "n":1E2,"u":"\\u00e9",  "z" : ${kind}.0 }`;
    const record = { marker, name: chance.pick(eventNames), kind, body, key, calls: [] };
    this.publishes.push(record);
    return record;
  }

  /** Whether it was answered. */
  async #publishOnce(records: readonly Publishing[]): Promise<boolean> {
    const { clock, counters } = this.#sim;
    const node = await this.#outside.someNode();
    const askedMs = clock.nowMs;
    const calls = records.map((record): Writable<PublishCall> => {
      const call = { askedMs, answeredMs: undefined, id: undefined, error: undefined };
      record.calls.push(call);
      return call;
    });
    try {
      const ids = await node.ask(async (engine) => publishIn(engine, records));
      for (const [at, call] of calls.entries()) {
        call.id = ids[at];
        call.answeredMs = clock.nowMs;
        clock.note(`${records[at]?.marker} is ${call.id}, says ${node.name}`);
      }
      return true;
    } catch (error) {
      this.#outside.failed(error);
      const text = error instanceof Error ? error.message : String(error);
      for (const call of calls) call.error = text;
      counters.unknownToPublisher += 1;
      return false;
    }
  }

  async #publishOther(records: readonly Publishing[]): Promise<void> {
    const { counters, flaws } = this.#sim;
    const node = await this.#outside.someNode();
    const others = records.map((record) => ({ ...record, body: '{"message":"other"}' }));
    try {
      const ids = await node.ask(async (engine) => publishIn(engine, others));
      flaws.push(`I13: another body was accepted under ${records[0]?.key}, as ${ids.join()}`);
    } catch (error) {
      if (error instanceof Problem && error.code === 'idempotency_mismatch') {
        counters.mismatchedKey += 1;
      } else this.#outside.failed(error);
    }
  }
}
