-- What a subscription chooses for itself, where a statement must see it; the rest is in its settings.

-- When it ends by itself.
alter table subscription add column expires_ms integer;
create index subscription_expiry on subscription (expires_ms)
  where expires_ms is not null and state <> 'ended';

-- Headers that its callbacks carry: sealed, since people put tokens there.
alter table subscription add column headers blob;

-- Which payloads it takes, as JSON. Apart from its settings: a publish reads it, and must not read with it
-- whatever else somebody keeps there.
alter table subscription add column filter text;

-- Attempts under way at a time, on one node.
alter table lane add column concurrency integer check (concurrency > 0);

-- Whether the subscription filters payloads, so that nobody else pays for asking.
alter table pattern add column filtered integer not null default 0 check (filtered in (0, 1));
-- Whoever looks for listeners is told by the index alone.
drop index pattern_alive;
create index pattern_alive on pattern (app, contract, pattern, callback, lane, died, filtered)
  where died is null;

-- When it died by a change of what its callback hears, so that it can go once no fan-out looks for it.
alter table pattern add column died_ms integer;
create index pattern_died on pattern (died_ms) where died_ms is not null;
