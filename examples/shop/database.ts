// Customers with their secrets, the callbacks that came for them, and what the shop knows of their orders.
// A webhook-id is in the inbox once: that, and nothing in memory, is why each event is handled once.
import { DatabaseSync } from 'node:sqlite';

export interface Customer {
  name: string;
  subscriberId: string;
  /** Verifies the callbacks of this customer's subscription. */
  secret: string;
  hasLeft: boolean;
}

/** What the order service tells. */
export interface OrderNews {
  order: string;
  state: string;
  version: number;
}

export interface Received {
  webhookId: string;
  customer: string;
  news: OrderNews;
}

export interface Handled extends Received {
  kind: 'handled';
  isNews: boolean;
}

export interface Database extends Disposable {
  join: (customer: Omit<Customer, 'hasLeft'>) => void;
  /** Whether there was such a customer. */
  leave: (name: string) => boolean;
  customer: (name: string) => Customer | undefined;
  /** On disk when this returns; a webhook-id that was taken before changes nothing. */
  take: (received: Received) => void;
  /**
   * Handles the oldest that waits, in one transaction. One that cannot be handled is set aside: it must
   * not stop those behind it, nor each start of the shop. Undefined: none waits.
   */
  workOff: () => Handled | { kind: 'failed'; number: number; error: unknown } | undefined;
}

const schema = `
  pragma journal_mode = wal;
  pragma synchronous = full; -- What was answered with 200 never comes again: it must survive.
  create table if not exists customers (
    name text primary key,
    subscriber_id text not null,
    secret text not null,
    has_left integer not null default 0
  ) strict;
  create table if not exists inbox (
    number integer primary key,
    webhook_id text not null,
    customer text not null,
    "order" text not null,
    state text not null,
    version integer not null,
    is_done integer not null default 0, -- 2: set aside, for a person to look at.
    unique (webhook_id, customer) -- The id is the event's, and an event may go to several.
  ) strict;
  create index if not exists inbox_waiting on inbox (number) where is_done = 0;
  create table if not exists orders (
    id text primary key,
    customer text not null,
    state text not null,
    version integer not null
  ) strict;
`;

export function openDatabase(file: string): Database {
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(schema);
  const add = db.prepare(`
    insert into customers (name, subscriber_id, secret) values (?, ?, ?)
    on conflict (name) do update
    set subscriber_id = excluded.subscriber_id, secret = excluded.secret, has_left = 0`);
  const part = db.prepare('update customers set has_left = 1 where name = ?');
  const find = db.prepare('select * from customers where name = ?');
  const keep = db.prepare(`
    insert into inbox (webhook_id, customer, "order", state, version) values (?, ?, ?, ?, ?)
    on conflict do nothing`);
  const oldest = db.prepare('select number from inbox where is_done = 0 order by number limit 1');
  const read = db.prepare('select * from inbox where number = ?');
  // Callbacks may overtake each other: older news of an order never replaces newer.
  const learn = db.prepare(`
    insert into orders (id, customer, state, version) values (?, ?, ?, ?)
    on conflict (id) do update set state = excluded.state, version = excluded.version
    where excluded.version > orders.version`);
  const finish = db.prepare('update inbox set is_done = 1 where number = ?');
  const setAside = db.prepare('update inbox set is_done = 2 where number = ?');

  return {
    join: ({ name, subscriberId, secret }) => void add.run(name, subscriberId, secret),
    leave: (name) => part.run(name).changes !== 0,
    customer: (name) => {
      const row = find.get(name);
      if (row === undefined) return undefined;
      return {
        name,
        subscriberId: String(row['subscriber_id']),
        secret: String(row['secret']),
        hasLeft: row['has_left'] !== 0,
      };
    },
    take: ({ webhookId, customer, news: { order, state, version } }) =>
      void keep.run(webhookId, customer, order, state, version),
    workOff: () => {
      const waiting = oldest.get();
      if (waiting === undefined) return undefined;
      const number = Number(waiting['number']);
      db.exec('begin immediate');
      try {
        const received = receivedOf(read.get(number) ?? {});
        const { order, state, version } = received.news;
        const { changes } = learn.run(order, received.customer, state, version);
        finish.run(number);
        db.exec('commit');
        return { kind: 'handled', ...received, isNews: changes !== 0 };
      } catch (error) {
        db.exec('rollback');
        setAside.run(number);
        return { kind: 'failed', number, error };
      }
    },
    [Symbol.dispose]: () => db.close(),
  };
}

function receivedOf(row: Readonly<Record<string, unknown>>): Received {
  return {
    webhookId: String(row['webhook_id']),
    customer: String(row['customer']),
    news: {
      order: String(row['order']),
      state: String(row['state']),
      version: Number(row['version']),
    },
  };
}
