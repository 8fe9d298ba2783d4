-- What a subscription is about, such as a job: it receives the events of this subject.
alter table subscription add column subject text check (subject <> '');
-- Set while it is unconfirmed: when it ends without a confirmation. Its state is `paused` until then.
alter table subscription add column confirm_by_ms integer;
alter table subscription add column end_reason text check (end_reason <> '');
alter table event add column subject text check (subject <> '');
