-- Callbacks that an event does not reach, because its payload fits another callback and not these: a list of operation,
-- definition and reason. A large fan-out reads it in each step. Existing rows are not checked, as in 0023.
alter table event add column skipped text;
alter table event add constraint event_skipped_check
  check (skipped is null or skipped::json is not null) not valid;
