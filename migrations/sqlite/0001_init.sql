-- Apps, keys, subscriptions and what a publish needs to find them. Events and deliveries come next.
-- Times are integer milliseconds; 9007199254740991 (2^53 - 1) means never. Ids are stored bare.

create table app (
  no integer primary key,
  id text not null unique check (length(id) = 26),
  name text not null unique check (name <> ''),
  version integer not null default 1 check (version >= 1),
  settings text not null default '{}' check (json_valid(settings)),
  created_ms integer not null
) strict;

create table key (
  no integer primary key,
  id text not null unique check (length(id) = 8),
  app integer not null references app,
  name text not null,
  scopes text not null check (scopes <> ''),
  hash blob not null check (length(hash) = 32),
  old_hash blob check (length(old_hash) = 32),
  old_until_ms integer,
  created_ms integer not null,
  expires_ms integer,
  revoked_ms integer,
  used_ms integer,
  check ((old_hash is null) = (old_until_ms is null))
) strict;
create index key_list on key (app, no);

-- version: the app's version at the last change, so that a cache can ask what changed since.
create table subscription (
  no integer primary key,
  id text not null unique check (length(id) = 26),
  app integer not null references app,
  contract text not null check (contract <> ''),
  operation text not null check (operation <> ''),
  state text not null default 'active' check (state in ('active', 'paused', 'disabled', 'ended')),
  ordered integer not null default 0 check (ordered in (0, 1)),
  settings text not null default '{}' check (json_valid(settings)),
  secrets blob not null,
  version integer not null check (version >= 1),
  created_ms integer not null,
  ended_ms integer,
  check ((state = 'ended') = (ended_ms is not null))
) strict;
create index subscription_list on subscription (app, no);
create index subscription_changed on subscription (app, version);

create table lane (
  no integer primary key,
  app integer not null,
  subscription integer not null references subscription,
  state integer not null default 0 check (state in (0, 1, 2)), -- 0 open, 1 held, 2 ended
  ordered integer not null default 0 check (ordered in (0, 1)),
  gate_ms integer not null default 0 check (gate_ms >= 0), -- not before
  hold_ms integer not null
    generated always as (case state when 0 then gate_ms else 9007199254740991 end) stored,
  ready_ms integer not null default 9007199254740991, -- when a claim must look here next
  interval_ms real check (interval_ms > 0), -- rate limit (GCRA)
  tat_ms real not null default 0,
  last_ms integer not null default 0, -- ordered: last order number given out
  failures integer not null default 0 check (failures >= 0), -- breaker
  failing_ms integer,
  swept integer not null default 0 check (swept in (0, 1)),
  check (state = 0 or ready_ms = 9007199254740991) -- a held or ended lane is never looked at
) strict;
create index lane_subscription on lane (subscription);
create index lane_ready on lane (ready_ms) where ready_ms < 9007199254740991;
create index lane_sweep on lane (no) where state = 2 and swept = 0;

-- A callback is either active, with a target and a lane, or inactive with the reason why.
create table callback (
  no integer primary key,
  app integer not null,
  subscription integer not null references subscription,
  position integer not null check (position >= 0),
  label text not null check (label <> ''),
  event text not null check (event <> ''),
  definition text not null check (definition <> ''),
  method text not null check (method <> ''),
  url text not null,
  inactive text,
  lane integer references lane,
  unique (subscription, position),
  check ((inactive is null) = (url <> '')),
  check ((inactive is null) = (lane is not null))
) strict;
create index callback_lane on callback (lane);

-- Who hears what: alive from app version `born` until, not including, `died`.
create table pattern (
  app integer not null references app,
  contract text not null,
  pattern text not null check (pattern <> ''),
  callback integer not null references callback,
  born integer not null check (born >= 1),
  lane integer not null,
  died integer check (died > born),
  primary key (app, contract, pattern, callback, born)
) strict, without rowid;
create index pattern_callback on pattern (callback);

create table idem (
  app integer not null references app,
  key blob not null check (length(key) >= 16),
  print blob not null check (length(print) >= 16),
  result text not null,
  created_ms integer not null,
  primary key (app, key)
) strict, without rowid;
create index idem_age on idem (created_ms);

create table setting (
  name text primary key check (name <> ''),
  value blob not null
) strict, without rowid;
