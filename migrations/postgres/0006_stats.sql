-- Figures: what was published, made, delivered and so on, by minute, and how long attempts took.
-- The figures of an app are written in the transaction that does what they count, so they are exact:
--   pending = made + revived - delivered - dead - cancelled
-- A writer is whoever writes by itself: no two of them ever write one row, so nobody waits for another.
--   writer > 0, minute > 0: fresh, as its writer counts it
--   writer = 0, minute > 0: the minute of all writers, once it is over; the keeper puts them together
--   writer = 0, minute = 0: the sum of all minutes that are over, also of those that are long deleted
-- So all that ever was is the row of minute 0 and what is fresh: a few rows, however long the history.
-- The hot row is another one every minute. One for the whole time would gather a dead version with every
-- batch while anybody's transaction stays open on PostgreSQL, and each write would step over them all.
-- l0 to l25: attempts by how long they took, see core/latency.ts. Minutes are counted from 1970.

-- A number for each writer.
create sequence stat_writer;

create table stat_app (
  app bigint not null,
  minute bigint not null check (minute >= 0),
  writer bigint not null check (writer >= 0),
  published bigint not null default 0,
  made bigint not null default 0,
  revived bigint not null default 0,
  delivered bigint not null default 0,
  retried bigint not null default 0,
  dead bigint not null default 0,
  cancelled bigint not null default 0,
  l0 integer not null default 0, l1 integer not null default 0,
  l2 integer not null default 0, l3 integer not null default 0,
  l4 integer not null default 0, l5 integer not null default 0,
  l6 integer not null default 0, l7 integer not null default 0,
  l8 integer not null default 0, l9 integer not null default 0,
  l10 integer not null default 0, l11 integer not null default 0,
  l12 integer not null default 0, l13 integer not null default 0,
  l14 integer not null default 0, l15 integer not null default 0,
  l16 integer not null default 0, l17 integer not null default 0,
  l18 integer not null default 0, l19 integer not null default 0,
  l20 integer not null default 0, l21 integer not null default 0,
  l22 integer not null default 0, l23 integer not null default 0,
  l24 integer not null default 0, l25 integer not null default 0,
  primary key (app, minute, writer)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index stat_app_fresh on stat_app (app, minute) where writer > 0;
create index stat_app_age on stat_app (minute) where writer = 0;

-- Gathered in memory and written now and then: what a crash takes with it was never written. There may be
-- very many, so after some hours what is left of them are half hours, each in the row of its first minute.
create table stat_subscription (
  subscription bigint not null,
  minute bigint not null check (minute > 0),
  made integer not null default 0,
  delivered integer not null default 0,
  retried integer not null default 0,
  dead integer not null default 0,
  cancelled integer not null default 0,
  l0 integer not null default 0, l1 integer not null default 0,
  l2 integer not null default 0, l3 integer not null default 0,
  l4 integer not null default 0, l5 integer not null default 0,
  l6 integer not null default 0, l7 integer not null default 0,
  l8 integer not null default 0, l9 integer not null default 0,
  l10 integer not null default 0, l11 integer not null default 0,
  l12 integer not null default 0, l13 integer not null default 0,
  l14 integer not null default 0, l15 integer not null default 0,
  l16 integer not null default 0, l17 integer not null default 0,
  l18 integer not null default 0, l19 integer not null default 0,
  l20 integer not null default 0, l21 integer not null default 0,
  l22 integer not null default 0, l23 integer not null default 0,
  l24 integer not null default 0, l25 integer not null default 0,
  primary key (subscription, minute)
) with (fillfactor = 80);
create index stat_subscription_fine on stat_subscription (minute) where minute % 30 > 0;
create index stat_subscription_age on stat_subscription (minute) where minute % 30 = 0;

-- What was there before figures were kept. Who was retried and who was revived, nobody knows any more.
insert into stat_app (app, minute, writer, published, made, delivered, dead, cancelled)
select app, 0, 0, sum(published), sum(made), sum(delivered), sum(dead), sum(cancelled)
from (
  select app, 1 as published, 0 as made, 0 as delivered, 0 as dead, 0 as cancelled from event
    where rejected is null
  union all select app, 0, 1, 0, 0, 0 from delivery_live
  union all
  select app, 0, 1, case state when 1 then 1 else 0 end, case state when 2 then 1 else 0 end,
    case state when 3 then 1 else 0 end
  from delivery_done) as known
group by app;

-- What needs somebody's attention: receivers that fail, the worst last, and what is switched off. After
-- the count, which may take minutes: building them keeps everybody from writing lanes.
create index lane_failing on lane (app, failures, no) where failures > 0 and state = 0;
create index subscription_disabled on subscription (app, no) where state = 'disabled';
