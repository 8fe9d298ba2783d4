-- Callbacks that an event does not reach, because its payload fits another callback and not these: a list of operation,
-- definition and reason. A large fan-out reads it in each step.
alter table event add column skipped text check (json_valid(skipped));
