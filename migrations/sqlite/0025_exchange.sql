-- The exchange that made a subscription, if an API answered it: the id of the request, and the status of the answer.
alter table subscription add column request_id text check (request_id <> '');
alter table subscription add column answer_status integer;
