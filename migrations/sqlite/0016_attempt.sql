-- What an attempt sent and got back stands beside its figures, in one row instead of two. Null where it is long,
-- and in attempts of before: then it has a row in `response`.
alter table attempt add column head text;
alter table attempt add column body blob;
