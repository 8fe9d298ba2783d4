// The same store twice, in SQLite and in PostgreSQL: every call goes to both, and every reply and every
// row of every table must be the same. What may differ stands in `differences`, and nowhere else.
import { strict as assert } from 'node:assert';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Client } from 'pg';
import { brokenAfter, never } from '../../src/core/lane.ts';
import { realWorld } from '../../src/core/world.ts';
import type { BatchReply, EditCall, WorkReply } from '../../src/store/call.ts';
import { editCall, editOutput, readCall, readOutput } from '../../src/store/call.ts';
import type { Offer, Work } from '../../src/store/delivery-verbs.ts';
import { dayAt } from '../../src/store/postgres/partition-day.ts';
import type { PostgresTransport } from '../../src/store/postgres/transport.ts';
import { openPostgres } from '../../src/store/postgres/transport.ts';
import type { Sqlite } from '../../src/store/sqlite/adapter.ts';
import { adapterOn } from '../../src/store/sqlite/adapter.ts';
import { applyMigrations } from '../../src/store/sqlite/apply-migrations.ts';
import { connect } from '../../src/store/sqlite/connect.ts';
import type { EditInput, ReadInput, ReadOutput, ReadVerb } from '../../src/store/store.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { migrationsDir } from './open-memory.ts';

const dayMs = 24 * 60 * 60 * 1000;
const yearMs = 365 * dayMs;

/** Every way in which the two may differ, and why. */
const differences = {
  /** Tables that only one has: who migrated when; the door for programs that publish by SQL. */
  tables: ['migration', 'sqlite_sequence', 'inbox', 'life'],
  columns: {
    // SQLite numbers rows that hold payloads, and tells nobody. PostgreSQL takes slices from a
    // sequence, another one every ten minutes.
    event: ['no', 'slice'],
    response: ['no'],
    delivery_live: ['slice'],
    delivery_done: ['slice'],
    // Marks of quiet and floors are for several writers. SQLite has one.
    lane: ['quiet_ms', 'quiet_xid', 'floor_ms'],
  },
  /** SQLite has swept an ended lane at once; PostgreSQL must sweep twice to be sure. */
  expressions: { lane: { swept: 'case state when 2 then 0 else swept end' } },
  /** A quiet lane of SQLite is never ready; one of PostgreSQL lingers, here for ten years. */
  lingerMs: 10 * yearMs,
  isLingering: (readyMs: number, nowMs: number) => readyMs > nowMs + yearMs && readyMs < never,
  /**
   * A broken lane that recovers is looked at again if anything could wait in it. SQLite knows when
   * nothing does, a lingering lane cannot; so those that are broken linger no longer.
   */
  restBroken: `
    update lane set ready_ms = ${never}, quiet_ms = null, quiet_xid = null
    where failures >= ${brokenAfter} and ready_ms between $1 and ${never - 1}`,
  /**
   * Numbers from a sequence: what was undone leaves a gap in PostgreSQL's. The first row stands for
   * the first row and so on; none of these tables ever loses a row.
   */
  numbered: ['app', 'key', 'subscription', 'lane', 'callback'],
  /** What a database says about a broken rule; the verb that failed stands before it. */
  message: (message: string) => message.replace(/: .*$/s, ''),
  /** A cursor holds a number from a sequence: of a row, or of a slice. */
  cursor: (next: string) => next.replace(/^\d+/, ''),
} as const;

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;
type Rows = readonly (readonly Cell[])[];

interface Table {
  name: string;
  columns: readonly string[];
  select: string;
  order: string;
}

export interface Sending {
  offer?: Offer | undefined;
  after?: string | undefined;
}

export type Written = Extract<BatchReply, { kind: 'written' }>;
export type Worked = Extract<WorkReply, { kind: 'worked' }>;

/** When every sequence begins. */
export const startMs = Date.UTC(2026, 0, 1);

export class Twins implements AsyncDisposable {
  nowMs = startMs;
  readonly #tables: readonly Table[];
  readonly #db: DatabaseSync;
  readonly #sqlite: Sqlite;
  readonly #selects: readonly StatementSync[];
  readonly #database: Database;
  readonly #postgres: PostgresTransport;
  readonly #client: Client;
  readonly #dump: string;
  #rows = new Map<string, Rows>();
  /** By table: what PostgreSQL calls the row that SQLite calls so, and back. */
  #numbers = new Map<string, { there: Map<Cell, Cell>; here: Map<Cell, Cell> }>();

  constructor(
    db: DatabaseSync,
    postgres: { database: Database; way: PostgresTransport; client: Client },
  ) {
    this.#db = db;
    this.#sqlite = adapterOn(db);
    this.#tables = tablesOf(db);
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

  static async open(): Promise<Twins> {
    const db = connect({ path: ':memory:', access: 'write' });
    applyMigrations(db, { database: ':memory:', migrationsDir, nowMs: 1 });
    const database = await freshStoreDatabase();
    const { lingerMs } = differences;
    const clock = { nowMs: () => startMs };
    const way = await openPostgres({
      url: database.url,
      world: { ...realWorld(), nowMs: () => clock.nowMs() },
      onHeard: () => undefined,
      clock: 'given',
      lingerMs: { least: lingerMs, most: lingerMs },
      floorMs: lingerMs,
    });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('set search_path = ringback; set plan_cache_mode = force_generic_plan');
    await keepOneDay(client);
    const twins = new Twins(db, { database, way, client });
    clock.nowMs = () => twins.nowMs;
    await twins.#haveTheSameTables();
    return twins;
  }

  /** Both are empty again, and all numbers begin at one. */
  async reset(): Promise<void> {
    this.nowMs = startMs;
    for (const name of emptied) this.#db.exec(`delete from ${name}`);
    this.#db.exec('delete from sqlite_sequence');
    const restart = [...differences.numbered, 'node'].map(
      (name) => `setval('${name}_no_seq', 1, false)`,
    );
    const deletes = emptied.map((name) => `delete from ${name}`);
    await this.#client.query([...deletes, `select ${restart.join(', ')}`].join(';'));
  }

  /** `after`: statements that follow on both, behind the verbs, before the rows are compared. */
  async send(edits: readonly EditCall[], { offer, after }: Sending = {}): Promise<Written> {
    const { nowMs } = this;
    const here = this.#sqlite.run({ nowMs, edits, offer });
    const there = await this.#postgres.send({ nowMs, edits, offer: this.#toThere(offer) });
    assert(here.kind === 'written', JSON.stringify(here));
    assert(there.kind === 'written', JSON.stringify(there));
    await (after === undefined ? this.#check() : this.exec(after));
    this.#same(there, here);
    return here;
  }

  /** Has a way of its own to PostgreSQL, beside the batches. */
  async retain(input: EditInput<'retain'>): Promise<void> {
    const { nowMs } = this;
    const edits = [editCall('retain', input)];
    const here = this.#sqlite.run({ nowMs, edits, offer: undefined });
    assert(here.kind === 'written' && here.edits[0]?.kind === 'done', JSON.stringify(here));
    const there = await this.#postgres.retain(input);
    await this.#check();
    assert.equal(there.expired, editOutput('retain', here.edits[0].output).expired);
  }

  async work({ settlements = [], claim, fanOut }: Partial<Work>): Promise<Worked> {
    const { nowMs } = this;
    const here = this.#sqlite.work({ nowMs, settlements, claim, fanOut });
    const offers = { claim: this.#toThere(claim), fanOut: this.#toThere(fanOut) };
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

  /** For inputs that hold a cursor, which each gives for itself. */
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

  /** What PostgreSQL calls a row that SQLite calls so. */
  toThere(table: string, no: number): number {
    return Number(this.#numbers.get(table)?.there.get(no) ?? no);
  }

  /** Behind the verbs: the same statements on both. */
  async exec(sql: string): Promise<void> {
    this.#db.exec(sql);
    await this.#client.query(sql);
    await this.#check();
  }

  /** The rows of a table, as SQLite has them and PostgreSQL has them too. */
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
    this.#learnNumbers(here, there);
    for (const [i, table] of this.#tables.entries()) {
      const rows = here[i] ?? [];
      const others = this.#toHere(table, there[i] ?? []);
      if (JSON.stringify(others) === JSON.stringify(rows)) continue;
      assert.deepEqual(named(table, others), named(table, rows), `table ${table.name}`);
      assert.fail(`The rows of ${table.name} are in another order`);
    }
    this.#rows = new Map(this.#tables.map(({ name }, i) => [name, here[i] ?? []]));
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
    assert.deepEqual(emptied.toSorted(), here.toSorted(), 'a table that nobody empties');
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
      Number(row[failures]) >= brokenAfter && this.#isLingering(row[readyMs]);
    if (dump[lanes]?.some(isTired) !== true) return dump;
    await this.#client.query(differences.restBroken, [this.nowMs + yearMs]);
    return this.#dumped();
  }

  #isLingering(readyMs: unknown): boolean {
    return typeof readyMs === 'number' && differences.isLingering(readyMs, this.nowMs);
  }

  #learnNumbers(here: readonly Rows[], there: readonly Rows[]): void {
    this.#numbers = new Map();
    for (const [i, { name, columns }] of this.#tables.entries()) {
      if (!isNumbered(name)) continue;
      const no = columns.indexOf('no');
      const [ours, theirs] = [here[i] ?? [], there[i] ?? []];
      if (ours.every((row, at) => row[no] === theirs[at]?.[no])) continue;
      const pairs = ours.map((row, at) => [row[no] ?? null, theirs[at]?.[no] ?? null] as const);
      const back = pairs.map(([a, b]) => [b, a] as const);
      this.#numbers.set(name, { there: new Map(pairs), here: new Map(back) });
    }
  }

  #toHere(table: Table, rows: Rows): Rows {
    const changes = table.columns.flatMap((column, i) => {
      const numbers = this.#numbers.get(column === 'no' ? table.name : column);
      if (numbers !== undefined) return [(row: Cell[]) => swap(row, i, numbers.here)];
      if (table.name !== 'lane' || column !== 'ready_ms') return [];
      return [(row: Cell[]) => (row[i] = this.#isLingering(row[i]) ? never : (row[i] ?? null))];
    });
    if (changes.length === 0) return rows;
    return rows.map((row) => {
      const changed = [...row];
      for (const change of changes) change(changed);
      return changed;
    });
  }

  #toThere(offer: Offer | undefined): Offer | undefined {
    if (offer === undefined) return undefined;
    const free = [...offer.free].map(([no, left]) => [this.toThere('lane', no), left] as const);
    return { ...offer, free: new Map(free) };
  }

  #same(there: object, here: object): void {
    const [other, ours] = [this.#plain(there, 'there'), this.#plain(here, 'here')];
    assert.deepEqual(other, ours);
  }

  /** A reply, with what may differ said in one way. */
  #plain(value: unknown, side: 'here' | 'there', key = ''): unknown {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    if (Array.isArray(value)) {
      const name = key === 'lanes' ? 'lane' : '';
      return value.map((each: unknown) => this.#plain(each, side, name));
    }
    if (typeof value === 'object' && value !== null) {
      const failed = 'kind' in value && value.kind === 'failed' && 'message' in value;
      if (failed) return { failed: differences.message(String(value.message)) };
      const fields = Object.entries(value).filter(([, field]) => field !== undefined);
      return Object.fromEntries(
        fields
          .map(([name, field]) => [name, this.#plain(field, side, name)] as const)
          .filter(([, field]) => field !== undefined),
      );
    }
    if (key === 'readyMs' && this.#isLingering(value)) return undefined;
    if (key === 'next' && typeof value === 'string') return differences.cursor(value);
    const isOther = side === 'there' && typeof value === 'number';
    return isOther ? (this.#numbers.get(key)?.here.get(value) ?? value) : value;
  }
}

/** All ids are of one day, and fewer partitions are read and emptied faster. */
async function keepOneDay(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where relkind = 'r' and relname not like '%${dayAt(startMs).name}'`);
  await client.query(`drop table ${rows.map(({ name }) => name).join(', ')}`);
}

/** In an order that no reference forbids. */
const emptied = [
  'response',
  'attempt',
  'delivery_done',
  'delivery_live',
  'fanout',
  'event',
  'pattern',
  'callback',
  'lane',
  'subscription',
  'key',
  'idem',
  'app',
  'node',
  'setting',
];

function tablesOf(db: DatabaseSync): Table[] {
  const found = db.prepare("select name from sqlite_schema where type = 'table' order by name");
  const names = found.all().map(({ name }) => String(name));
  const left: readonly string[] = differences.tables;
  return names
    .filter((name) => !left.includes(name))
    .map((name) => {
      const info = db
        .prepare(`select name, pk from pragma_table_xinfo('${name}') order by cid`)
        .all();
      const skipped = columnsLeftOut(name);
      const columns = info.map((column) => String(column['name']));
      const kept = columns.filter((column) => !skipped.includes(column));
      const order = info
        .filter(({ pk, name: column }) => Number(pk) > 0 && !skipped.includes(String(column)))
        .sort((a, b) => Number(a['pk']) - Number(b['pk']))
        .map((column) => String(column['name']));
      const select = kept.map((column) => expressionOf(name, column)).join(', ');
      return { name, columns: kept, select, order: order.join(', ') || (orders[name] ?? '') };
    });
}

/** Where the number by which SQLite sorts is left out. */
const orders: Readonly<Record<string, string>> = { event: 'id', response: 'event, n, k' };

function columnsLeftOut(table: string): readonly string[] {
  const left: Readonly<Record<string, readonly string[]>> = differences.columns;
  return left[table] ?? [];
}

function expressionOf(table: string, column: string): string {
  const all: Readonly<Record<string, Readonly<Record<string, string>>>> = differences.expressions;
  return all[table]?.[column] ?? column;
}

/** All tables in one answer. */
function dumpOf(tables: readonly Table[]): string {
  const all = tables.map(
    ({ name, select, order }) =>
      `(select coalesce(json_agg(json_build_array(${select}) order by ${order}), '[]') from ${name})`,
  );
  return `select json_build_array(${all.join(',\n')})`;
}

function plainRows(rows: readonly unknown[]): Rows {
  return rows.map((row) => {
    assert(Array.isArray(row));
    return row.map((cell: unknown): Cell => {
      if (cell instanceof Uint8Array) return String.raw`\x` + Buffer.from(cell).toString('hex');
      assert(cell === null || typeof cell === 'number' || typeof cell === 'string');
      return cell;
    });
  });
}

function isNumbered(table: string): boolean {
  const numbered: readonly string[] = differences.numbered;
  return numbered.includes(table);
}

function swap(row: Cell[], i: number, numbers: ReadonlyMap<Cell, Cell>): void {
  const cell = row[i] ?? null;
  row[i] = numbers.get(cell) ?? cell;
}

function named({ columns }: Table, rows: Rows): Row[] {
  return rows.map((row) =>
    Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])),
  );
}
