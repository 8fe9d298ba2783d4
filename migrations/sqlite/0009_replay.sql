-- Replays: jobs that send ended deliveries again, oldest first. A step makes deliveries due and moves the
-- cursor in one transaction, so that a crash neither repeats nor leaves out anything.

create table replay (
  no integer primary key,
  id text not null unique check (length(id) = 26),
  app integer not null references app,
  -- The filter.
  wanted text not null check (wanted in ('delivered', 'dead', 'cancelled', 'ended')),
  name text check (name <> ''), -- of the event, or a pattern
  subscription text check (length(subscription) = 26), -- its id
  status text check (length(status) = 3), -- 404 or 4xx
  error text check (error <> ''),
  from_ms integer,
  until_ms integer,
  rate integer not null check (rate between 1 and 1000), -- deliveries a second
  state text not null default 'running' check (state in ('running', 'done', 'cancelled')),
  -- Walks from one event to another; the cursor is the last delivery that was looked at. Of its event
  -- those from below_n on are younger than the walk.
  first_event text not null,
  last_event text not null,
  event text not null,
  n integer not null check (n >= -1),
  below_n integer not null check (below_n >= 0),
  matched integer not null default 0 check (matched = replayed + skipped),
  replayed integer not null default 0 check (replayed >= 0),
  skipped integer not null default 0 check (skipped >= 0),
  next_ms real not null, -- the next step: not before
  created_ms integer not null,
  ended_ms integer,
  check ((state = 'running') = (ended_ms is null))
) strict;
create index replay_list on replay (app, no);
create index replay_running on replay (next_ms, no) where state = 'running';
create index replay_running_of on replay (app) where state = 'running';
create index replay_ended on replay (ended_ms) where ended_ms is not null;
