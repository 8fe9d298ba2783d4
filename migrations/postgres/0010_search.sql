-- What searches go by. Lists are in the order of ids, which is the order of time.

-- Between which ids the events of a slice lie, and with them their deliveries. It may claim more than
-- there is, never less: a search in a time looks into the slices that reach into it, and no others.
create table slice_span (
  slice bigint primary key check (slice >= 1),
  first_event text collate "C" not null,
  last_event text collate "C" not null check (last_event >= first_event)
);
create index slice_span_first on slice_span (first_event);
-- Those that lie across the edge of an era, see spans.ts: few.
create index slice_span_wide on slice_span (last_event)
  where substr(first_event, 1, 5) < substr(last_event, 1, 5);
insert into slice_span (slice, first_event, last_event)
  select slice, min(id), max(id) from event group by slice;

-- What was not delivered is little of all: dead and cancelled deliveries have an index, and delivered
-- ones pay nothing for it. So have those that wait or run again after a failed attempt.
create index delivery_failed on delivery_done (app, event, n) include (state, lane, code, error)
  where state <> 1;
create index delivery_retried on delivery_live (app, event, n) where attempts > 0;

-- Last, so that the lock that it takes is not held while the others are built.
drop index delivery_dead;
