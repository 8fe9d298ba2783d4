// Data that a publish on SQLite reads to evaluate filters: one app must not stall the store with large settings.
import { strict as assert } from 'node:assert';
import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { callback, newKey, newSubscription } from './subject.ts';
import { newId, openMemory } from './open-memory.ts';

const subscriptions = 5;
const filter = { '/type': ['paid', 'x'.repeat(1_000)] };
const filterChars = JSON.stringify(filter).length;

describe('publish', () => {
  it('reads only the filters, once for all events of a call', () => {
    const db = new Reading(':memory:');
    const { edit } = openMemory(db);
    const app = edit('createApp', { id: newId(), name: 'a', key: newKey() });
    assert(app.kind === 'created');
    const appNo = app.app.no;
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`${i}`, 'x'.repeat(limits.metadataValueCharsMax)]),
    );
    for (let i = 0; i < subscriptions; i += 1) {
      const controls = { ...noControls, metadata, filter };
      const subscription = newSubscription(app.app, { callbacks: [callback(0, '*')], controls });
      assert.equal(edit('subscribe', { subscription, idempotency: undefined }).kind, 'created');
    }
    const payload = Buffer.from('{"type":"paid"}');
    const events = Array.from({ length: 40 }, (_, i) => ({
      id: newId(),
      name: `name${i % 4}`,
      payload,
    }));
    const audience = { kind: 'everyone' } as const;
    db.forget();
    const input = { appNo, contract: 'Ringback', events, audience, idempotency: undefined };
    const output = edit('publish', input);
    assert(output.kind === 'accepted');
    assert(output.events.every(({ deliveries }) => deliveries === subscriptions));
    assert.deepEqual(
      db.longTexts(),
      Array.from({ length: subscriptions }, () => filterChars),
    );
  });
});

/** Records the rows that its statements return. */
class Reading extends DatabaseSync {
  #rows: unknown[] = [];

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    const all = statement.all.bind(statement);
    const noted = (...values: Parameters<typeof all>): ReturnType<typeof all> => {
      const rows = all(...values);
      this.#rows.push(...rows);
      return rows;
    };
    return Object.assign(statement, { all: noted });
  }

  forget(): void {
    this.#rows = [];
  }

  /** The lengths of long texts in these rows. */
  longTexts(): number[] {
    const values = this.#rows.flatMap((row) => Object.values(Object(row)));
    return values.flatMap((value) =>
      typeof value === 'string' && value.length > 500 ? value.length : [],
    );
  }
}
