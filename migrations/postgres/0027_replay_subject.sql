-- A replay of the events of one subject.
alter table replay add column subject text collate "C";
alter table replay add constraint replay_subject_check check (subject <> '') not valid;
