-- The live view: what changed, as each node tells it a few times a second, and who wants to know.

-- One row: what changed in an app on one node since the row before. A node writes its rows one after
-- the other, so those of one node become visible in the order of their numbers; over all nodes there is
-- no such order, and whoever reads on remembers a number for each.
create table change_feed (
  app bigint not null,
  node bigint not null,
  seq bigint not null check (seq >= 1),
  at_ms bigint not null,
  digest text not null check (digest::json is not null),
  primary key (app, node, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index change_feed_age on change_feed (at_ms);

-- Apps that somebody looks at through a node: until then all nodes tell what changes in them.
create table watch (
  app bigint not null,
  node bigint not null,
  until_ms bigint not null,
  primary key (app, node)
) with (fillfactor = 50);
create index watch_age on watch (until_ms, app);
