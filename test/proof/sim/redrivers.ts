// Those who have ended deliveries sent again: one by hand, or many by a replay.
import { cancelReplay } from '../../../src/engine/read/replays.ts';
import { retryDelivery } from '../../../src/engine/read/deliveries.ts';
import { replayIn } from './engine-calls.ts';
import type { Simulation } from './node.ts';
import { triesMax, type ExternalDeps } from './outside-clients.ts';
import { eventNames } from './publishers.ts';
import type { Replaying } from './records.ts';
import type { Subscribers } from './subscribers.ts';

/** Those that are there, and those that fan-outs under way may make. */
const deliveriesSql = `select (select count(*) from delivery_done) + (select count(*) from delivery_live)
  + (select count(*) from fanout) * (select count(*) from pattern) as deliveries`;
const replayMostS = 300;

export class Redrivers {
  readonly redriven = new Set<string>();
  readonly replays: Replaying[] = [];
  readonly #sim: Simulation;
  readonly #outside: ExternalDeps;
  readonly #subscribers: Subscribers;

  constructor(sim: Simulation, outside: ExternalDeps, subscribers: Subscribers) {
    this.#sim = sim;
    this.#outside = outside;
    this.#subscribers = subscribers;
  }

  async redrive(): Promise<void> {
    const { shared, chance, counters, clock } = this.#sim;
    const rows = shared.db.prepare('select event, n from delivery_done order by event, n').all();
    if (rows.length === 0) return;
    const row = chance.pick(rows);
    const id = `dlv_${String(row['event'])}_${String(row['n'])}`;
    this.redriven.add(id);
    clock.note(`${id} is sent again by hand`);
    const isDone = await this.#outside.insist(1, async ({ context }) => {
      await retryDelivery(context, context.defaultApp, id);
    });
    if (isDone) counters.redriven += 1;
  }

  /** At one a second a replay of thousands would not end within the time that healing has. */
  #rateMin(): number {
    const row = this.#sim.shared.db.prepare(deliveriesSql).get();
    return Math.ceil(Number(row?.['deliveries']) / replayMostS);
  }

  async replay(): Promise<void> {
    const { chance, clock } = this.#sim;
    const { all } = this.#subscribers;
    const isOfOne = all.length > 0 && chance.isLucky(0.4);
    const record: Replaying = {
      key: `replay-${this.replays.length}`,
      state: chance.pick(['ended', 'ended', 'dead', 'delivered', 'cancelled'] as const),
      event: chance.isLucky(0.3) ? chance.pick(eventNames) : undefined,
      subscriberId: isOfOne ? chance.pick(all).id : undefined,
      ratePerSecond: Math.max(chance.pick([1, 4, 20, 50, 1000]), this.#rateMin()),
      ids: new Set(),
      cancelAskedMs: undefined,
    };
    this.replays.push(record);
    await this.#outside.insist(chance.whole(1, triesMax), async (engine) => {
      const id = await replayIn(engine, record);
      record.ids.add(id);
      clock.note(`${id} replays ${JSON.stringify(record)}`);
    });
    const [id] = record.ids;
    if (id === undefined || !chance.isLucky(0.2)) return;
    await this.#outside.wait(chance.between(0, 4_000));
    record.cancelAskedMs = clock.nowMs;
    clock.note(`${id} is to be cancelled`);
    await this.#outside.insist(1, async ({ context }) => {
      await cancelReplay(context, context.defaultApp, id);
    });
  }
}
