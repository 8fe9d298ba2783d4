// Translates between the databases: PostgreSQL numbers rows differently, and keeps idle lanes ready for a little longer. Rows
// and replies are translated to SQLite's form, and calls to PostgreSQL's.
import { never } from '../../src/core/domain/lane.ts';
import type { EditCall } from '../../src/store/port/transport-protocol.ts';
import { editCall } from '../../src/store/port/transport-protocol.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import type { Cell, Rows, Table } from './differential-tables.ts';
import { differences, isNumbered, swap } from './differential-tables.ts';

export class Names {
  readonly #tables: readonly Table[];
  readonly #nowMs: () => number;
  /** By table: row numbers of SQLite to those of PostgreSQL, and back. */
  #numbers = new Map<string, { there: Map<Cell, Cell>; here: Map<Cell, Cell> }>();

  constructor(tables: readonly Table[], nowMs: () => number) {
    this.#tables = tables;
    this.#nowMs = nowMs;
  }

  learn(here: readonly Rows[], there: readonly Rows[]): void {
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

  toHere(table: Table, rows: Rows): Rows {
    const changes = table.columns.flatMap((column, i) => {
      const numbers = this.#numbers.get(column === 'no' ? table.name : column);
      if (numbers !== undefined) return [(row: Cell[]) => swap(row, i, numbers.here)];
      if (table.name !== 'lane' || column !== 'ready_ms') return [];
      return [(row: Cell[]) => (row[i] = this.isLingering(row[i]) ? never : (row[i] ?? null))];
    });
    if (changes.length === 0) return rows;
    return rows.map((row) => {
      const changed = [...row];
      for (const change of changes) change(changed);
      return changed;
    });
  }

  /** The number in PostgreSQL of a row in SQLite. */
  toThere(table: string, no: number): number {
    return Number(this.#numbers.get(table)?.there.get(no) ?? no);
  }

  offerThere(offer: Offer | undefined): Offer | undefined {
    if (offer === undefined) return undefined;
    const toThere = (byLane: ReadonlyMap<number, number>): Map<number, number> =>
      new Map([...byLane].map(([no, some]) => [this.toThere('lane', no), some] as const));
    return { ...offer, free: toThere(offer.free), inFlight: toThere(offer.inFlight) };
  }

  /** The same call with row numbers of PostgreSQL. */
  callThere(call: EditCall): EditCall {
    if (call.verb === 'disableFailing') {
      const lane = this.toThere('lane', call.input.lane);
      return editCall('disableFailing', { ...call.input, lane });
    }
    if (call.verb !== 'publish' || call.input.notice === undefined) return call;
    const notice = this.toThere('notice', call.input.notice);
    return editCall('publish', { ...call.input, notice });
  }

  /** A reply in a normalised form. */
  plain(value: unknown, side: 'here' | 'there', key = ''): unknown {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    if (Array.isArray(value)) {
      const name = key === 'lanes' ? 'lane' : '';
      return value.map((each: unknown) => this.plain(each, side, name));
    }
    if (typeof value === 'object' && value !== null) {
      const failed = 'kind' in value && value.kind === 'failed' && 'message' in value;
      if (failed) return { failed: differences.message(String(value.message)) };
      const fields = Object.entries(value).filter(([, field]) => field !== undefined);
      return Object.fromEntries(
        fields
          .map(([name, field]) => [name, this.plain(field, side, name)] as const)
          .filter(([, field]) => field !== undefined),
      );
    }
    if (key === 'readyMs' && this.isLingering(value)) return undefined;
    if (key === 'next' && typeof value === 'string') return differences.cursor(value);
    const isOther = side === 'there' && typeof value === 'number';
    return isOther ? (this.#numbers.get(key)?.here.get(value) ?? value) : value;
  }

  isLingering(readyMs: unknown): boolean {
    return typeof readyMs === 'number' && differences.isLingering(readyMs, this.#nowMs());
  }
}
