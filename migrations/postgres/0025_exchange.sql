-- The exchange that made a subscription, if an API answered it: the id of the request, and the status of the answer.
alter table subscription add column request_id text;
alter table subscription add constraint subscription_request_id_check check (request_id <> '') not valid;
alter table subscription add column answer_status integer;
