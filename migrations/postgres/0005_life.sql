-- One life of the server: from its start to the next crash, or to a failover to another one. After a
-- crash the numbers of transactions that were never written down are given out once more, so whoever
-- asks what became of such a number might be told of somebody else's. An unlogged table is emptied by
-- the recovery from a crash, and is empty on every replica: when the row is another one, so is the life.
create unlogged table life (
  no smallint primary key check (no = 1),
  id text not null
);
