-- Only columns, because the tables are locked meanwhile: existing rows are not checked, and indexes come with 0024.

-- What a subscription is about, such as a job: it receives the events of this subject.
alter table subscription add column subject text collate "C";
alter table subscription add constraint subscription_subject_check check (subject <> '') not valid;
-- Set while it is unconfirmed: when it ends without a confirmation. Its state is `paused` until then.
alter table subscription add column confirm_by_ms bigint;
alter table subscription add column end_reason text;
alter table subscription add constraint subscription_end_reason_check check (end_reason <> '') not valid;
alter table event add column subject text collate "C";
alter table event add constraint event_subject_check check (subject <> '') not valid;
