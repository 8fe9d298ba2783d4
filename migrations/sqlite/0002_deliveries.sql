-- Events on their way: what was published, what waits or runs, what became of it, and every attempt.
-- Pending and ended deliveries live in two tables: the queue stays small, the history only grows.
-- A slice is a run of a few thousand rows in the order they were published; indexes that begin with
-- it take new rows in a few hot pages, however long the history is.

-- Finds who hears an event now. The primary key of pattern also holds those that died.
create index pattern_alive on pattern (app, contract, pattern, callback, lane, died)
  where died is null;

create table event (
  no integer primary key, -- Payloads in a table without rowid would fill its inner pages.
  id text not null unique check (length(id) = 26),
  app integer not null,
  name text not null check (name <> ''),
  slice integer not null check (slice >= 1),
  created_ms integer not null,
  deliveries integer check (deliveries >= 0), -- null while a large fan-out is under way
  payload blob not null
) strict;
create index event_find on event (slice, app, name, id);

create table delivery_live (
  event text not null,
  n integer not null check (n >= 0),
  app integer not null,
  lane integer not null,
  callback integer not null,
  due_ms integer not null check (due_ms >= 0), -- in an ordered lane: the order number
  tries integer not null default 0 check (tries >= 0),
  attempts integer not null default 0 check (attempts >= tries),
  slice integer not null,
  lease integer check (lease > 0), -- null: due; otherwise running, and this proves whose it is
  primary key (event, n)
) strict, without rowid;
create index delivery_due on delivery_live (lane, due_ms, event, n) where lease is null;
create index delivery_running on delivery_live (lease) where lease is not null;
create index delivery_live_find on delivery_live (slice, app, lane, event, n);

create table delivery_done (
  event text not null,
  n integer not null check (n >= 0),
  app integer not null,
  lane integer not null,
  callback integer not null,
  state integer not null check (state in (1, 2, 3)), -- 1 delivered, 2 dead, 3 cancelled
  attempts integer not null check (attempts >= 0),
  code integer,
  error text check (error <> ''),
  slice integer not null,
  ended_ms integer not null,
  primary key (event, n)
) strict, without rowid;
create index delivery_find on delivery_done (slice, lane, event, n);
create index delivery_dead on delivery_done (app, event, n) where state = 2;

create table attempt (
  event text not null,
  n integer not null,
  k integer not null check (k >= 1),
  node integer not null,
  started_ms integer not null,
  took_ms integer not null check (took_ms >= 0),
  code integer check (code between 100 and 999),
  error text check (error <> ''),
  primary key (event, n, k)
) strict, without rowid;

-- What an attempt sent and got back, beyond the figures above.
create table response (
  no integer primary key,
  event text not null,
  n integer not null,
  k integer not null,
  head text not null check (json_valid(head)),
  body blob,
  unique (event, n, k)
) strict;

-- A large fan-out and how far it has come: the next callback is the first one after `callback` that
-- hears names[step], as of the app's version.
create table fanout (
  event text primary key references event (id),
  app integer not null,
  contract text not null,
  version integer not null check (version >= 1),
  names text not null check (json_valid(names)),
  step integer not null default 0 check (step >= 0),
  callback integer not null default 0,
  made integer not null default 0 check (made >= 0)
) strict, without rowid;

-- Incarnations of nodes. A number is never given twice: it is the upper half of every lease.
create table node (
  no integer primary key autoincrement,
  name text not null,
  role text not null,
  version text not null,
  started_ms integer not null,
  seen_ms integer not null,
  gone integer not null default 0 check (gone in (0, 1))
) strict;
