-- What a cluster of nodes needs. SQLite has one writer and one node, so the marks of a lane stay empty
-- here; the columns are the same on both databases, so that the same statements run on both.

-- The version of the subscription, so that a delivery's lease says which target it was made for.
alter table lane add column version integer not null default 0;
update lane set version = (select version from subscription where no = lane.subscription);

-- PostgreSQL: a lane in which a look found nothing due, since when, and the transaction that is sure.
alter table lane add column quiet_ms integer;
alter table lane add column quiet_xid integer;
-- PostgreSQL: looks begin here, so that they need not step over the dead rows of an old transaction.
alter table lane add column floor_ms integer not null default 0;

-- Why an event that came by SQL was not sent to anybody.
alter table event add column rejected text check (rejected <> '');

-- Those that are there now, of all incarnations that ever were.
create index node_alive on node (no, seen_ms) where gone = 0;
