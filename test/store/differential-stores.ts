// The same store in SQLite and in PostgreSQL: every call goes to both, and all replies and all rows of all tables must be
// the same, except for what `differences` lists.
import { strict as assert } from 'node:assert';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Client } from 'pg';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { BatchReply, EditCall, WorkReply } from '../../src/store/port/transport-protocol.ts';
import {
  editCall,
  editOutput,
  readCall,
  readOutput,
} from '../../src/store/port/transport-protocol.ts';
import type { Offer, Settlement, Work } from '../../src/store/port/delivery-verbs.ts';
import type { PostgresTransport } from '../../src/store/postgres/batch/adapter.ts';
import { openPostgres } from '../../src/store/postgres/batch/adapter.ts';
import type { Sqlite } from '../../src/store/sqlite/batch/adapter.ts';
import { adapterOn } from '../../src/store/sqlite/batch/adapter.ts';
import type { EditInput, ReadInput, ReadOutput, ReadVerb } from '../../src/store/port/store.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { migratedMemory } from './migrated-memory.ts';
import { Names } from './differential-names.ts';
import type { Cell, Row, Rows, Table } from './differential-tables.ts';
import {
  differences,
  dumpOf,
  emptied,
  keepOneDay,
  named,
  plainRows,
  startMs,
  tablesOf,
  yearMs,
} from './differential-tables.ts';

export interface Sending {
  /** SQLite writes them with the edits, PostgreSQL before them. */
  settlements?: readonly Settlement[];
  offer?: Offer | undefined;
  after?: string | undefined;
}

export type Written = Extract<BatchReply, { kind: 'written' }>;
export type Worked = Extract<WorkReply, { kind: 'worked' }>;

export class StorePair implements AsyncDisposable {
  nowMs = startMs;
  readonly #tables: readonly Table[];
  readonly #names: Names;
  readonly #db: DatabaseSync;
  readonly #sqlite: Sqlite;
  readonly #selects: readonly StatementSync[];
  readonly #database: Database;
  readonly #postgres: PostgresTransport;
  readonly #client: Client;
  readonly #dump: string;
  #rows = new Map<string, Rows>();

  constructor(
    db: DatabaseSync,
    postgres: { database: Database; way: PostgresTransport; client: Client },
  ) {
    this.#db = db;
    this.#sqlite = adapterOn(db);
    this.#tables = tablesOf(db);
    this.#names = new Names(this.#tables, () => this.nowMs);
    this.#selects = this.#tables.map(({ name, select, order }) => {
      const statement = db.prepare(`select ${select} from ${name} order by ${order}`);
      statement.setReturnArrays(true);
      return statement;
    });
    this.#database = postgres.database;
    this.#postgres = postgres.way;
    this.#client = postgres.client;
    this.#dump = dumpOf(this.#tables);
  }

  static async open(): Promise<StorePair> {
    const db = migratedMemory();
    const database = await freshStoreDatabase();
    const { lingerMs } = differences;
    const clock = { nowMs: () => startMs };
    const way = await openPostgres({
      url: database.url,
      // With a stopped clock, no batch is cut off on a slow machine.
      world: { ...realWorld(), nowMs: () => clock.nowMs(), monotonicMs: () => 0 },
      onNotified: () => undefined,
      clock: 'given',
      lingerMs: { least: lingerMs, most: lingerMs },
      floorMs: lingerMs,
      isOneWriter: true,
    });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('set search_path = ringback; set plan_cache_mode = force_generic_plan');
    await keepOneDay(client);
    const pair = new StorePair(db, { database, way, client });
    clock.nowMs = () => pair.nowMs;
    await pair.#haveTheSameTables();
    return pair;
  }

  /** Empties both databases, and restarts all numbers at one. */
  async reset(): Promise<void> {
    this.nowMs = startMs;
    await this.#forgetStatistics();
    const all = [...emptied, 'slice_span'];
    for (const name of all) this.#db.exec(`delete from ${name}`);
    this.#db.exec('delete from sqlite_sequence');
    const restart = [...differences.numbered, 'node'].map(
      (name) => `setval('${name}_no_seq', 1, false)`,
    );
    const deletes = all.map((name) => `delete from ${name}`);
    await this.#client.query([...deletes, `select ${restart.join(', ')}`].join(';'));
  }

  /** Drops pending statistics, since lane numbers will be reused. */
  async #forgetStatistics(): Promise<void> {
    const edits = [editCall('keepStatistics', { limit: limits.pendingStatisticsMax })];
    const batch = { nowMs: this.nowMs, settlements: [], edits, offer: undefined };
    this.#sqlite.run(batch);
    await this.#postgres.send(batch);
  }

  /** `after`: SQL to run on both before the rows are compared. */
  async send(
    edits: readonly EditCall[],
    { settlements = [], offer, after }: Sending = {},
  ): Promise<Written> {
    const { nowMs } = this;
    const here = this.#sqlite.run({ nowMs, settlements, edits, offer });
    const settled = await this.#settleThere(settlements);
    const theirs = edits.map((call) => this.#names.callThere(call));
    const there = await this.#postgres.send({
      nowMs,
      settlements: [],
      edits: theirs,
      offer: this.#names.offerThere(offer),
    });
    assert(here.kind === 'written', JSON.stringify(here));
    assert(there.kind === 'written', JSON.stringify(there));
    await (after === undefined ? this.#check() : this.exec(after));
    this.#same({ ...there, settled }, here);
    return here;
  }

  async #settleThere(settlements: readonly Settlement[]): Promise<Worked['settled']> {
    if (settlements.length === 0) return [];
    const { nowMs } = this;
    const work = { nowMs, settlements, claim: undefined, fanOut: undefined };
    const there = await this.#postgres.work(work);
    assert(there.kind === 'worked', JSON.stringify(there));
    await this.#dumped(); // Puts lanes to rest whose circuit breaker has opened.
    return there.settled;
  }

  /** On PostgreSQL, it does not go through the batches. */
  async retain(input: EditInput<'retain'>): Promise<void> {
    const { nowMs } = this;
    const edits = [editCall('retain', input)];
    const here = this.#sqlite.run({ nowMs, settlements: [], edits, offer: undefined });
    assert(here.kind === 'written' && here.edits[0]?.kind === 'done', JSON.stringify(here));
    const there = await this.#postgres.retain(input);
    await this.#check();
    assert.equal(there.expired, editOutput('retain', here.edits[0].output).expired);
  }

  async work({ settlements = [], claim, fanOut }: Partial<Work>): Promise<Worked> {
    const { nowMs } = this;
    const here = this.#sqlite.work({ nowMs, settlements, claim, fanOut });
    const offers = { claim: this.#names.offerThere(claim), fanOut: this.#names.offerThere(fanOut) };
    const there = await this.#postgres.work({ nowMs, settlements, ...offers });
    assert(here.kind === 'worked', JSON.stringify(here));
    assert(there.kind === 'worked', JSON.stringify(there));
    await this.#check();
    this.#same(there, here);
    return here;
  }

  async read<V extends ReadVerb>(verb: V, input: ReadInput<V>): Promise<ReadOutput<V>> {
    return (await this.readApart(verb, { here: input, there: input })).here;
  }

  /** For inputs with a cursor, which each database generates itself. */
  async readApart<V extends ReadVerb>(
    verb: V,
    { here, there }: { here: ReadInput<V>; there: ReadInput<V> },
  ): Promise<{ here: ReadOutput<V>; there: ReadOutput<V> }> {
    const found = this.#sqlite.read(readCall(verb, here));
    const other = await this.#postgres.read(readCall(verb, there));
    assert(found.kind === 'done', JSON.stringify(found));
    assert(other.kind === 'done', JSON.stringify(other));
    this.#same(other, found);
    return { here: readOutput(verb, found.output), there: readOutput(verb, other.output) };
  }

  /** Before lanes are arranged: see `restAll`. */
  async rest(): Promise<void> {
    await this.#client.query(differences.restAll, [this.nowMs + yearMs]);
  }

  /** The number in PostgreSQL of a row in SQLite. */
  toThere(table: string, no: number): number {
    return this.#names.toThere(table, no);
  }

  /** Runs SQL directly on both databases. */
  async exec(sql: string): Promise<void> {
    this.#db.exec(sql);
    await this.#client.query(sql);
    await this.#check();
  }

  /** The rows of a table, which are the same in both. */
  table(name: string): Row[] {
    const { columns = [] } = this.#tables.find((table) => table.name === name) ?? {};
    const rows = this.#rows.get(name) ?? [];
    return rows.map((row) =>
      Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])),
    );
  }

  async #check(): Promise<void> {
    const here = this.#tables.map((_, i) => plainRows(this.#selects[i]?.all() ?? []));
    const there = await this.#dumped();
    this.#names.learn(here, there);
    for (const [i, table] of this.#tables.entries()) {
      const rows = here[i] ?? [];
      const others = this.#names.toHere(table, there[i] ?? []);
      if (JSON.stringify(others) === JSON.stringify(rows)) continue;
      assert.deepEqual(named(table, others), named(table, rows), `table ${table.name}`);
      assert.fail(`The rows of ${table.name} are in another order`);
    }
    this.#rows = new Map(this.#tables.map(({ name }, i) => [name, here[i] ?? []]));
    this.#checkSubscriptions();
  }

  /** Checks the numbers that quotas use. */
  #checkSubscriptions(): void {
    const living = this.table('subscription').filter(({ state }) => state !== 'ended');
    for (const { no, subscriptions } of this.table('app')) {
      const count = living.filter(({ app }) => app === no).length;
      assert.equal(subscriptions, count, 'the number of subscriptions of an app');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
    await this.#postgres.close();
    await this.#database[Symbol.asyncDispose]();
    this.#sqlite.close();
  }

  async #haveTheSameTables(): Promise<void> {
    const { rows } = await this.#client.query<{ name: string }>(`
      select relname as name from pg_class
      where relnamespace = 'ringback'::regnamespace and relkind in ('r', 'p') and not relispartition`);
    const left: readonly string[] = differences.tables;
    const there = rows.map(({ name }) => name).filter((name) => !left.includes(name));
    const here = this.#tables.map(({ name }) => name);
    assert.deepEqual(there.toSorted(), here.toSorted());
    assert.deepEqual(emptied.toSorted(), here.toSorted(), 'a table that reset() does not empty');
  }

  async #dumped(): Promise<Rows[]> {
    const { rows } = await this.#client.query<[Rows[]]>({
      name: 'dump',
      text: this.#dump,
      rowMode: 'array',
    });
    const [found] = rows;
    assert(found !== undefined);
    const [dump] = found;
    const lanes = this.#tables.findIndex(({ name }) => name === 'lane');
    const { columns = [] } = this.#tables[lanes] ?? {};
    const [failures, readyMs] = [columns.indexOf('failures'), columns.indexOf('ready_ms')];
    const isTired = (row: readonly Cell[]): boolean =>
      Number(row[failures]) >= brokenAfter && this.#names.isLingering(row[readyMs]);
    if (dump[lanes]?.some(isTired) !== true) return dump;
    await this.#client.query(differences.restBroken, [this.nowMs + yearMs]);
    return this.#dumped();
  }

  #same(there: object, here: object): void {
    const [other, ours] = [this.#names.plain(there, 'there'), this.#names.plain(here, 'here')];
    assert.deepEqual(other, ours);
  }
}
