-- Event types: what an app declares of its events. Payloads of events with this name are checked by the schema.
create table event_type (
  no integer primary key,
  app integer not null references app,
  name text not null check (name <> ''),
  schema text not null check (json_valid(schema)),
  description text check (description <> ''),
  example text check (json_valid(example)),
  state text not null check (state in ('active', 'deprecated')),
  version integer not null default 1 check (version >= 1), -- of the schema
  created_ms integer not null,
  updated_ms integer not null,
  unique (app, name)
) strict;
