-- The live view: what changed, as each node tells it a few times a second, and who wants to know.

-- One row: what changed in an app on one node since the row before. A node writes its rows one after
-- the other, so those of one node become visible in the order of their numbers; over all nodes there is
-- no such order, and whoever reads on remembers a number for each.
create table change_feed (
  app integer not null,
  node integer not null,
  seq integer not null check (seq >= 1),
  at_ms integer not null,
  digest text not null check (json_valid(digest)),
  primary key (app, node, seq)
) strict, without rowid;
create index change_feed_age on change_feed (at_ms);

-- Apps that somebody looks at through a node: until then all nodes tell what changes in them.
create table watch (
  app integer not null,
  node integer not null,
  until_ms integer not null,
  primary key (app, node)
) strict, without rowid;
create index watch_age on watch (until_ms, app);
