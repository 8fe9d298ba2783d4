-- Who is signed in to the console, and the links that sign somebody in once. Only hashes of tokens: whoever
-- reads this table can enter nowhere.
create table session (
  hash bytea primary key check (length(hash) = 32),
  kind text collate "C" not null check (kind in ('ticket', 'session')),
  key bigint not null references key,
  -- Of the secret that it was made with: when the key admits that no longer, it is over.
  key_hash bytea not null check (length(key_hash) = 32),
  created_ms bigint not null,
  expires_ms bigint not null check (expires_ms > created_ms)
);
create index session_expiry on session (expires_ms);
