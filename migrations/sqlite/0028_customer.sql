-- Whose a subscription is. An event of a customer reaches only the subscriptions of that customer.
alter table subscription add column customer text check (customer <> '');
alter table event add column customer text check (customer <> '');
-- A replay of the deliveries to the subscriptions of one customer.
alter table replay add column customer text check (customer <> '');
-- An own event about a subscription of this customer.
alter table notice add column customer text check (customer <> '');
-- A key that is bound to a customer sees and does only what is theirs.
alter table key add column customer text check (customer <> '');
