-- The audit trail: who changed what, when and from where. Each entry is written in the transaction of its change.
create table audit (
  no integer primary key,
  app integer not null references app,
  at_ms integer not null,
  actor text not null check (actor in ('key', 'session', 'portal', 'anonymous', 'cli', 'service')),
  key text, -- id of the key of the actor
  is_bound integer not null check (is_bound in (0, 1)), -- the actor is bound to the customer
  address text,
  request_id text,
  action text not null check (action <> ''),
  object text check (object <> ''), -- an id with its prefix, or the name of an event type
  customer text check (customer <> ''), -- of the object
  details text not null check (json_valid(details))
) strict;

create index audit_list on audit (app, at_ms);
create index audit_object on audit (app, object, at_ms) where object is not null;
create index audit_customer on audit (app, customer, at_ms) where customer is not null;
