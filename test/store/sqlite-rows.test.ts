// The rows that the verbs write, as publishes, claims and caches will find them.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { callback, digest, inactive, newKey, newSubscription } from './subject.ts';
import type { Opened } from './open-memory.ts';
import { newId, openMemory } from './open-memory.ts';

const never = Number.MAX_SAFE_INTEGER;

describe('subscribe', () => {
  it('increments the version of its own app only', () => {
    const opened = openMemory();
    const [app, other] = [addApp(opened), addApp(opened)];
    const { version } = subscribe(opened, app);
    assert.equal(version, 2);
    assert.equal(versionOf(opened, app), 2);
    assert.equal(versionOf(opened, other), 1);
  });

  it('creates an open lane and a pattern for every active callback, but not for inactive ones', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app, [callback(0, 'a.*'), inactive(1, 'b'), callback(2, '*')]);
    assert.deepEqual(lanes(opened), [
      { no: 1, state: 0, ready_ms: never },
      { no: 2, state: 0, ready_ms: never },
    ]);
    assert.deepEqual(rows(opened, 'select position, lane from callback order by position'), [
      { position: 0, lane: 1 },
      { position: 1, lane: null },
      { position: 2, lane: 2 },
    ]);
    assert.deepEqual(patterns(opened), [
      { contract: 'Ringback', pattern: 'a.*', callback: 1, lane: 1, born: 2, died: null },
      { contract: 'Ringback', pattern: '*', callback: 3, lane: 2, born: 2, died: null },
    ]);
  });

  it('writes nothing for a repeated or mismatched key', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const idempotency = { key: digest('key'), print: digest('print') };
    const again = (print: Uint8Array) =>
      opened.edit('subscribe', {
        subscription: newSubscription(app),
        idempotency: { ...idempotency, print },
      });
    assert.equal(again(idempotency.print).kind, 'created');
    const before = opened.db.prepare('select total_changes() as n').get();
    assert.equal(again(idempotency.print).kind, 'repeated');
    assert.equal(again(digest('other')).kind, 'mismatch');
    assert.deepEqual(opened.db.prepare('select total_changes() as n').get(), before);
  });
});

describe('unsubscribe', () => {
  it('ends the patterns as of the new version, and every lane', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const { id } = subscribe(opened, app, [callback(0, 'a'), callback(1, 'b')]);
    subscribe(opened, app);
    const output = opened.edit('unsubscribe', { appNo: app.no, id });
    assert(output.kind === 'ended');
    assert.equal(output.subscription.version, 4);
    assert.equal(versionOf(opened, app), 4);
    assert.deepEqual(
      patterns(opened).map(({ callback: of, died }) => ({ of, died })),
      [
        { of: 1, died: 4 },
        { of: 2, died: 4 },
        { of: 3, died: null },
      ],
    );
    assert.deepEqual(
      lanes(opened).map(({ state }) => state),
      [2, 2, 0],
    );
  });

  it('does not increment the version the second time', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const { id } = subscribe(opened, app);
    opened.edit('unsubscribe', { appNo: app.no, id });
    opened.edit('unsubscribe', { appNo: app.no, id });
    assert.equal(versionOf(opened, app), 3);
  });
});

describe('editSubscription', () => {
  for (const state of ['paused', 'disabled'] as const) {
    it(`holds the lanes while ${state}, and makes them ready when active again`, () => {
      const opened = openMemory();
      const app = addApp(opened);
      const made = subscribe(opened, app, [callback(0, 'a'), callback(1, 'b')]);
      const lateMs = opened.clock.ms + 500;
      opened.db.exec(`update lane set ready_ms = 7 where no = 1`);
      opened.db.exec(`update lane set gate_ms = ${lateMs} where no = 2`);

      const held = edit(opened, made, { state });
      assert.deepEqual(lanes(opened), [
        { no: 1, state: 1, ready_ms: never },
        { no: 2, state: 1, ready_ms: never },
      ]);
      edit(opened, held, { state: 'active' });
      // A disabled subscription starts over, without the gate of the circuit breaker.
      const gateMs = state === 'disabled' ? opened.clock.ms : lateMs;
      assert.deepEqual(lanes(opened), [
        { no: 1, state: 0, ready_ms: opened.clock.ms },
        { no: 2, state: 0, ready_ms: gateMs },
      ]);
    });
  }

  it('does not wake or close lanes of a subscription that stays active', () => {
    const opened = openMemory();
    const made = subscribe(opened, addApp(opened));
    opened.db.exec('update lane set ready_ms = 7');
    edit(opened, made, { state: 'active', urls: [{ position: 0, url: 'https://new.example/' }] });
    assert.deepEqual(lanes(opened), [{ no: 1, state: 0, ready_ms: 7 }]);
  });

  it('keeps lane and pattern of a callback that gets another URL', () => {
    const opened = openMemory();
    const made = subscribe(opened, addApp(opened));
    const before = patterns(opened);
    edit(opened, made, { urls: [{ position: 0, url: 'https://new.example/' }] });
    assert.deepEqual(patterns(opened), before);
    assert.deepEqual(rows(opened, 'select url, lane from callback'), [
      { url: 'https://new.example/', lane: 1 },
    ]);
  });

  it('activates an inactive callback from the new version on', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const made = subscribe(opened, app, [callback(0, 'a'), inactive(1, 'b')]);
    edit(opened, made, { urls: [{ position: 1, url: 'https://new.example/' }] });
    assert.deepEqual(patterns(opened).at(-1), {
      contract: 'Ringback',
      pattern: 'b',
      callback: 2,
      lane: 2,
      born: 3,
      died: null,
    });
    assert.deepEqual(lanes(opened).at(-1), { no: 2, state: 0, ready_ms: never });
  });

  it('creates a held lane if the subscription is or becomes paused', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const made = subscribe(opened, app, [inactive(0, 'a'), inactive(1, 'b')]);
    const urls = [0, 1].map((position) => [{ position, url: 'https://new.example/' }]);
    const paused = edit(opened, made, { state: 'paused', urls: urls[0] ?? [] });
    edit(opened, paused, { urls: urls[1] ?? [] });
    assert.deepEqual(
      lanes(opened).map(({ state }) => state),
      [1, 1],
    );
  });

  it('increments the version of the app', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const { version } = edit(opened, subscribe(opened, app), { state: 'paused' });
    assert.equal(version, 3);
    assert.equal(versionOf(opened, app), 3);
  });
});

describe('the schema', () => {
  it('has only strict tables', () => {
    const { db } = openMemory();
    const loose = db
      .prepare("select name from pragma_table_list where type = 'table' and strict = 0")
      .all()
      .map(({ name }) => name)
      .filter((name) => !String(name).startsWith('sqlite_'));
    assert.deepEqual(loose, []);
  });

  it('is applied once', () => {
    const opened = openMemory();
    openMemory(opened.db);
    assert.deepEqual(rows(opened, 'select number, name from migration'), [
      { number: 1, name: 'init' },
      { number: 2, name: 'deliveries' },
      { number: 3, name: 'cluster' },
      { number: 4, name: 'retention' },
      { number: 5, name: 'life' },
      { number: 6, name: 'stats' },
      { number: 7, name: 'session' },
      { number: 8, name: 'stream' },
      { number: 9, name: 'replay' },
      { number: 10, name: 'search' },
      { number: 11, name: 'controls' },
      { number: 12, name: 'trace' },
      { number: 13, name: 'notice' },
      { number: 14, name: 'quotas' },
      { number: 15, name: 'fill' },
      { number: 16, name: 'attempt' },
      { number: 17, name: 'waiting' },
      { number: 18, name: 'no_live_find' },
      { number: 19, name: 'publishers' },
      { number: 20, name: 'lane_app_ready' },
      { number: 21, name: 'resource' },
      { number: 22, name: 'event_names' },
      { number: 23, name: 'subject' },
      { number: 24, name: 'subject_indexes' },
      { number: 25, name: 'exchange' },
      { number: 26, name: 'skipped_callbacks' },
      { number: 27, name: 'replay_subject' },
      { number: 28, name: 'customer' },
      { number: 29, name: 'customer_indexes' },
      { number: 30, name: 'event_type' },
      { number: 31, name: 'portal' },
      { number: 32, name: 'audit' },
      { number: 33, name: 'sql_subject_customer' },
    ]);
  });

  it('refuses rows that violate an invariant', () => {
    const opened = openMemory();
    subscribe(opened, addApp(opened), [callback(0, 'a'), inactive(1, 'b')]);
    for (const sql of [
      "update subscription set state = 'lost'",
      "update subscription set state = 'ended'",
      'update subscription set ended_ms = 1',
      'update subscription set version = 0',
      'update app set version = 0',
      "update app set settings = '{'",
      "update key set scopes = ''",
      "update key set hash = x'00'",
      'update key set old_hash = hash',
      'update key set old_until_ms = 1',
      'update lane set state = 3',
      'update lane set state = 1, ready_ms = 5',
      'update lane set gate_ms = -1',
      "update callback set url = '' where position = 0",
      "update callback set inactive = 'why' where position = 0",
      "update callback set url = 'https://x/' where position = 1",
      'update callback set lane = 1 where position = 1',
      'update callback set lane = 99 where position = 0',
      'update pattern set died = born',
      "insert into setting values ('', x'00')",
    ]) {
      assert.throws(() => opened.db.exec(sql), { message: /constraint failed/ }, sql);
    }
  });
});

function addApp({ edit: run }: Opened): App {
  const id = newId();
  const output = run('createApp', { id, name: id, key: newKey() });
  assert(output.kind === 'created');
  return output.app;
}

function subscribe(opened: Opened, app: App, callbacks = [callback(0, 'a')]): Subscription {
  const subscription = newSubscription(app, { callbacks });
  const output = opened.edit('subscribe', { subscription, idempotency: undefined });
  assert(output.kind === 'created');
  return output.subscription;
}

interface Changes {
  state?: 'active' | 'paused' | 'disabled';
  urls?: { position: number; url: string }[];
}

function edit(opened: Opened, made: Subscription, { state, urls = [] }: Changes): Subscription {
  const { appNo, id, version } = made;
  const input = { appNo, id, version, state, urls, secrets: undefined };
  const output = opened.edit('editSubscription', input);
  assert(output.kind === 'edited');
  return output.subscription;
}

function versionOf({ db }: Opened, app: App) {
  return db.prepare('select version from app where no = ?').get(app.no)?.['version'];
}

function lanes(opened: Opened) {
  return rows(opened, 'select no, state, ready_ms from lane order by no');
}

function patterns(opened: Opened) {
  return rows(
    opened,
    'select contract, pattern, callback, lane, born, died from pattern order by callback',
  );
}

function rows({ db }: Opened, sql: string): Record<string, unknown>[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}
