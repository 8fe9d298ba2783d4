// Orders, and the events to publish about them. An order and its event are written in one transaction: either
// both are stored or neither, even if this process or the machine crashes in between.
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export interface Order {
  id: string;
  customer: string;
  totalCents: number;
  state: 'created' | 'paid' | 'shipped';
  /** Counts the changes, so that a receiver knows which of two callbacks is the newer one. */
  version: number;
}

/** An event that is not known to be with Ringback yet. */
export interface Unpublished {
  /** Made of the order and its version: the same event never has another one. */
  id: string;
  event: string;
  /** The text that is sent, each time the same bytes. */
  payload: string;
}

export interface Database extends Disposable {
  create: (order: { customer: string; totalCents: number }) => Order;
  /** Undefined: there is no such order in the state before. */
  advance: (id: string, to: 'paid' | 'shipped') => Order | undefined;
  get: (id: string) => Order | undefined;
  oldestUnpublished: () => Unpublished | undefined;
  /** With `refusal`, Ringback will never accept the event: it is kept for an operator to inspect. */
  settle: (id: string, refusal?: string) => void;
}

const stateBefore = { paid: 'created', shipped: 'paid' } as const;

const schema = `
  pragma journal_mode = wal;
  pragma synchronous = full; -- An answered order survives a power cut.
  create table if not exists orders (
    id text primary key,
    customer text not null,
    total_cents integer not null check (total_cents >= 0),
    state text not null check (state in ('created', 'paid', 'shipped')),
    version integer not null
  ) strict;
  create table if not exists outbox (
    number integer primary key,
    id text not null unique,
    event text not null,
    payload text not null,
    refusal text
  ) strict;
`;

export function openDatabase(file: string): Database {
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(schema);
  const find = db.prepare('select * from orders where id = ?');
  const insert = db.prepare(`insert into orders values (?, ?, ?, 'created', 1)`);
  const update = db.prepare(
    'update orders set state = ?, version = version + 1 where id = ? and state = ?',
  );
  const announce = db.prepare('insert into outbox (id, event, payload) values (?, ?, ?)');
  const oldest = db.prepare(
    'select id, event, payload from outbox where refusal is null order by number limit 1',
  );
  const forget = db.prepare('delete from outbox where id = ?');
  const refuse = db.prepare('update outbox set refusal = ? where id = ?');

  const get: Database['get'] = (id) => {
    const row = find.get(id);
    return row === undefined ? undefined : orderOf(row);
  };
  /** Makes the change and writes down what to tell about it, or does neither. */
  const change = (id: string, act: () => { changes: number | bigint }): Order | undefined => {
    db.exec('begin immediate');
    try {
      const order = Number(act().changes) === 0 ? undefined : get(id);
      if (order !== undefined) {
        const event = `order.${order.state}`;
        announce.run(`order-${id}-${order.version}`, event, payloadOf(event, order));
      }
      db.exec('commit');
      return order;
    } catch (error) {
      db.exec('rollback');
      throw error;
    }
  };
  return {
    create: ({ customer, totalCents }) => {
      const id = randomUUID();
      const order = change(id, () => insert.run(id, customer, totalCents));
      if (order === undefined) throw new Error(`Cannot find order ${id}, which was just made`);
      return order;
    },
    advance: (id, to) => change(id, () => update.run(to, id, stateBefore[to])),
    get,
    oldestUnpublished: () => {
      const row = oldest.get();
      if (row === undefined) return undefined;
      return {
        id: String(row['id']),
        event: String(row['event']),
        payload: String(row['payload']),
      };
    },
    settle: (id, refusal) =>
      void (refusal === undefined ? forget.run(id) : refuse.run(refusal, id)),
    [Symbol.dispose]: () => db.close(),
  };
}

/** `type` is in the body, which is signed; the header that names the event is not. */
function payloadOf(type: string, { id, customer, totalCents, state, version }: Order): string {
  const message = `Order ${id} is ${state}`;
  return JSON.stringify({ type, message, order: id, customer, totalCents, state, version });
}

function orderOf(row: Readonly<Record<string, unknown>>): Order {
  const state = row['state'];
  if (state !== 'created' && state !== 'paid' && state !== 'shipped') {
    throw new Error(`Cannot read an order: its state is "${String(state)}"`);
  }
  return {
    id: String(row['id']),
    customer: String(row['customer']),
    totalCents: Number(row['total_cents']),
    state,
    version: Number(row['version']),
  };
}
