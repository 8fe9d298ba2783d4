// What receivers saw while the service was killed again and again, and whether the API says the same.
import assert from 'node:assert/strict';
import { Tally } from './awaitable-count.ts';

export interface Publishing {
  numbers: readonly number[];
  key: string | undefined;
  ids: readonly string[] | undefined;
}

export interface DeliveryRow {
  eventId: string;
  subscriberId: string;
  state: string;
}

interface Lists {
  events: readonly { id: string; deliveries: number }[];
  deliveries: readonly DeliveryRow[];
  publishings: readonly Publishing[];
  promised: readonly { eventId: string; subscription: string; number: number }[];
  record: KillRecord;
  stats: KillStats;
}

/** Of GET /stats, over all the time that the test took. */
export interface KillStats {
  totals: { published: number; delivered: number; dead: number; cancelled: number };
  pending: number;
}

/** What the API shows, against what was answered and what receivers saw. */
export function checkLists(lists: Lists): number {
  const { events, deliveries, publishings, promised, record, stats } = lists;
  const known = new Map(events.map((event) => [event.id, event]));
  assert.equal(known.size, events.length, 'an event stands in the list once');
  const answered = new Set(publishings.flatMap(({ ids = [] }) => ids));
  for (const id of answered) assert.ok(known.has(id), `${id} was answered and is not in the list`);
  // What was not answered may have been kept or not, but all or none of a batch.
  const unknownMax = publishings
    .filter(({ ids }) => ids === undefined)
    .reduce((sum, { numbers }) => sum + numbers.length, 0);
  const unknown = events.length - answered.size;
  assert.ok(unknown <= unknownMax, 'more events than were published');

  const count = (state: string): number =>
    deliveries.filter((delivery) => delivery.state === state).length;
  const made = events.reduce((sum, event) => sum + event.deliveries, 0);
  const states = ['delivered', 'dead', 'cancelled', 'due', 'running'].map(count);
  assert.equal(
    states.reduce((sum, one) => sum + one, 0),
    made,
    'accepted = delivered + dead + cancelled + pending',
  );
  assert.deepEqual(states, [made, 0, 0, 0, 0]);
  const { published, delivered, dead, cancelled } = stats.totals;
  const counted = [published, delivered, dead, cancelled, stats.pending];
  assert.deepEqual(counted, [events.length, made, 0, 0, 0], 'the statistics say the same');

  const rows = new Set(deliveries.map(({ eventId, subscriberId }) => `${eventId} ${subscriberId}`));
  assert.equal(rows.size, deliveries.length, 'an event has one delivery for a subscription');
  for (const { eventId, subscription, number } of promised) {
    assert.ok(rows.has(`${eventId} ${subscription}`), `no delivery of ${number}`);
    assert.equal(record.numberOf(eventId), number, `${eventId} carried other bytes`);
  }
  for (const row of rows) assert.ok(record.isAccepted(row), `${row} is delivered, but to nobody`);
  return unknown;
}

export type Name = { subscription: string; eventId: string };

/** What receivers saw. */
export class KillRecord {
  /** Of the service's process. */
  incarnation = 0;
  callbacks = 0;
  duplicates = 0;
  underWayMax = 0;
  readonly accepted = new Tally('deliveries were accepted');
  readonly #flaws: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #events = new Map<number, string>();
  /** In which incarnation a delivery was last accepted. */
  readonly #acceptedIn = new Map<string, number>();
  readonly #expected = new Set<string>();
  #inFlight = 0;

  /** A callback is there; `number` is known by its bytes. Gives the incarnation that sent it. */
  came({ eventId }: Name, number: number | undefined): number {
    this.callbacks += 1;
    this.#inFlight += 1;
    if (number === undefined) this.#flaws.push(`${eventId} came with bytes nobody published`);
    else {
      const before = this.#numbers.get(eventId) ?? number;
      if (before !== number) this.#flaws.push(`${eventId} came with other bytes than before`);
      const other = this.#events.get(number) ?? eventId;
      if (other !== eventId) this.#flaws.push(`number ${number} came as ${other} and ${eventId}`);
      this.#numbers.set(eventId, number);
      this.#events.set(number, eventId);
    }
    return this.incarnation;
  }

  left(): void {
    this.#inFlight -= 1;
  }

  accept({ subscription, eventId }: Name, incarnation: number): void {
    const row = `${eventId} ${subscription}`;
    const before = this.#acceptedIn.get(row);
    if (before === undefined) this.accepted.add();
    else {
      this.duplicates += 1;
      if (before === incarnation) this.#flaws.push(`${row} came twice from one process`);
    }
    this.#acceptedIn.set(row, incarnation);
  }

  noteKill(): void {
    this.underWayMax = Math.max(this.underWayMax, this.#inFlight);
  }

  expect({ subscription, eventId }: Name): void {
    this.#expected.add(`${eventId} ${subscription}`);
  }

  /** Resolves when every expected delivery was accepted. */
  async allExpected(): Promise<void> {
    const missing = (): string[] => [...this.#expected].filter((row) => !this.isAccepted(row));
    for (let left = missing(); left.length > 0; left = missing()) {
      await this.accepted.reach(this.accepted.count + 1).catch((cause: unknown) => {
        const message = `${left.length} deliveries were lost, ${left[0]} among them`;
        throw new Error(message, { cause });
      });
    }
  }

  isAccepted(row: string): boolean {
    return this.#acceptedIn.has(row);
  }

  numberOf(eventId: string): number | undefined {
    return this.#numbers.get(eventId);
  }

  check(): void {
    assert.deepEqual(this.#flaws, []);
  }
}
