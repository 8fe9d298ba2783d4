-- Ringback's own events that are yet to be published: written in the transaction of what they tell, if
-- anybody of the app listens; the row goes in the transaction that makes the event.
create table notice (
  no integer primary key autoincrement,
  app integer not null,
  name text not null check (substr(name, 1, 9) = 'ringback.'),
  payload text not null check (json_valid(payload)),
  created_ms integer not null
) strict;
