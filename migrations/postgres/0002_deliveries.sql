-- Events on their way: what was published, what waits or runs, what became of it, and each attempt.
-- Pending and ended deliveries live in two tables: the queue stays small, the history only grows.
-- The history (event, delivery_done, attempt, response) is cut into UTC days by the event's id,
-- whose first characters are its time, and a day is forgotten by dropping its four partitions. They
-- are made by the program (src/store/postgres/partitions.ts). There is no default partition: it
-- would forbid `detach partition concurrently`. No foreign key points to an event, for that reason.
-- A slice is a run of a few thousand rows in the order they were published; indexes that begin with
-- it take new rows in a few hot pages, however long the history is.
--
-- Primary keys are made last. While a table is empty (and the queue is, whenever all is well) every
-- index of it looks equally good, and of equals the planner takes the youngest: a plan made then
-- went through columns 4 and 5 of delivery_live_find and settled 256 deliveries in 300 ms once
-- 20,000 waited; through the key it takes 6 to 12. Nor may a statement leave the planner another way
-- than from the list of keys to the table. `event = any(array[x.event]) and n = x.n and lease is not
-- distinct from x.lease` cannot be turned round; with `=` for all three it read the whole table
-- (through delivery_running, because a lease that equals something is not null) and compared each
-- row with the list: 45 ms when nothing else waited, 1,600 when 20,000 did.

-- Finds who hears an event now. The primary key of pattern also holds those that died.
create index pattern_alive on pattern (app, contract, pattern, callback, lane, died)
  where died is null;

-- Each node takes its slices from here, so that no two nodes write into one.
create sequence slice;

create table event (
  id text collate "C" not null check (length(id) = 26),
  app bigint not null,
  name text collate "C" not null check (name <> ''),
  slice bigint not null check (slice >= 1),
  created_ms bigint not null,
  deliveries integer check (deliveries >= 0), -- null while a large fan-out is under way
  payload bytea not null
) partition by range (id);
create index event_find on event (slice, app, name, id);
alter table event add primary key (id);

create table delivery_live (
  event text collate "C" not null,
  n integer not null check (n >= 0),
  app bigint not null,
  lane bigint not null,
  callback bigint not null,
  due_ms bigint not null check (due_ms >= 0), -- in an ordered lane: the order number
  tries integer not null default 0 check (tries >= 0),
  attempts integer not null default 0 check (attempts >= tries),
  slice bigint not null,
  lease bigint check (lease > 0) -- null: due; otherwise running, and this proves whose it is
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index delivery_due on delivery_live (lane, due_ms, event, n) where lease is null;
-- By incarnation, the upper half of a lease. An index on the lease itself would tempt the planner
-- to settle through it: 2,700 rows/s in batches of 512, against 10,100 by primary key.
create index delivery_running on delivery_live ((lease >> 32)) where lease is not null;
create index delivery_live_find on delivery_live (slice, app, lane, event);
alter table delivery_live add primary key (event, n);

create table delivery_done (
  event text collate "C" not null,
  n integer not null check (n >= 0),
  app bigint not null,
  lane bigint not null,
  callback bigint not null,
  state smallint not null check (state in (1, 2, 3)), -- 1 delivered, 2 dead, 3 cancelled
  attempts integer not null check (attempts >= 0),
  code integer,
  error text check (error <> ''),
  slice bigint not null,
  ended_ms bigint not null
) partition by range (event);
create index delivery_find on delivery_done (slice, lane, event);
create index delivery_dead on delivery_done (app, event, n) where state = 2;
alter table delivery_done add primary key (event, n);

create table attempt (
  event text collate "C" not null,
  n integer not null,
  k integer not null check (k >= 1),
  node bigint not null,
  started_ms bigint not null,
  took_ms bigint not null check (took_ms >= 0),
  code integer check (code between 100 and 999),
  error text check (error <> ''),
  primary key (event, n, k)
) partition by range (event);

-- What an attempt sent and got back, beyond the figures above.
create table response (
  event text collate "C" not null,
  n integer not null,
  k integer not null,
  head text not null check (head::json is not null),
  body bytea,
  primary key (event, n, k)
) partition by range (event);

-- A large fan-out and how far it has come: the next callback is the first one after `callback` that
-- hears names[step], as of the app's version.
create table fanout (
  event text collate "C" primary key,
  app bigint not null,
  contract text collate "C" not null,
  version bigint not null check (version >= 1),
  names text not null check (names::json is not null),
  step integer not null default 0 check (step >= 0),
  callback bigint not null default 0,
  made integer not null default 0 check (made >= 0)
);

-- Incarnations of nodes. A number is never given twice: it is the upper half of every lease.
create table node (
  no bigint generated by default as identity primary key,
  name text not null,
  role text not null,
  version text not null,
  started_ms bigint not null,
  seen_ms bigint not null,
  gone smallint not null default 0 check (gone in (0, 1))
);
