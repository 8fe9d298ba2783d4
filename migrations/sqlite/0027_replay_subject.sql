-- A replay of the events of one subject.
alter table replay add column subject text check (subject <> '');
