-- What an attempt sent and got back stands beside its figures, in one row instead of two. Null in attempts of
-- before, whose other half stays in `response` until it is forgotten with them.
alter table attempt add column head text;
alter table attempt add column body blob;
