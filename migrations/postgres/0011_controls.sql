-- What a subscription chooses for itself, where a statement must see it; the rest is in its settings.
-- Columns only: nobody can use the tables meanwhile. No rule is held against the rows that are there, which
-- have nothing in them yet; indexes come with 0015. In the order in which a publish uses the tables.

-- Whether the subscription filters payloads, so that nobody else pays for asking.
alter table pattern add column filtered smallint not null default 0;
alter table pattern add constraint pattern_filtered_check check (filtered in (0, 1)) not valid;

-- When it died by a change of what its callback hears, so that it can go once no fan-out looks for it.
alter table pattern add column died_ms bigint;

-- When it ends by itself.
alter table subscription add column expires_ms bigint;

-- Headers that its callbacks carry: sealed, since people put tokens there.
alter table subscription add column headers bytea;

-- Which payloads it takes, as JSON. Apart from its settings: a publish reads it, and must not read with it
-- whatever else somebody keeps there.
alter table subscription add column filter text;

-- Attempts under way at a time, on one node.
alter table lane add column concurrency integer;
alter table lane add constraint lane_concurrency_check check (concurrency > 0) not valid;
