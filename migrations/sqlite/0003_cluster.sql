-- What several nodes on one database need to know. SQLite has one node and never reads most of it, but
-- both databases keep the same columns, so that one set of rules and tests serves both.

-- version: of the subscription that the lane belongs to, so that a node sees in the rows it claims
-- whether what it remembers of the target is still true.
-- quiet_ms, quiet_xid: PostgreSQL only. The two marks that a lane gets before it may fall asleep.
-- floor_ms: no delivery of the lane is due before; lets a claim step over rows that are gone.
alter table lane add column version integer not null default 0;
alter table lane add column quiet_ms integer;
alter table lane add column quiet_xid integer;
alter table lane add column floor_ms integer not null default 0;
update lane set version = (select version from subscription where no = lane.subscription);

-- Why an event that was published inside a database transaction was not delivered; null for others.
alter table event add column rejected text check (rejected <> '');
