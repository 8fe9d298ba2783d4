-- The trace that an event belongs to, as its publisher or the span of its publishing named it. Null
-- where nobody did: then it is made from the event's id by whoever needs one.
alter table event add column trace text check (trace <> '');
