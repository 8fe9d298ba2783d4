-- Placeholder: the number belongs to another change.
select 1;
