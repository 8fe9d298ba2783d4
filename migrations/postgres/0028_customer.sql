-- Only columns, because the tables are locked meanwhile: existing rows are not checked, and indexes come with 0029.

-- Whose a subscription is. An event of a customer reaches only the subscriptions of that customer.
alter table subscription add column customer text collate "C";
alter table subscription add constraint subscription_customer_check check (customer <> '') not valid;
alter table event add column customer text collate "C";
alter table event add constraint event_customer_check check (customer <> '') not valid;
-- A replay of the deliveries to the subscriptions of one customer.
alter table replay add column customer text collate "C";
alter table replay add constraint replay_customer_check check (customer <> '') not valid;
-- An own event about a subscription of this customer.
alter table notice add column customer text collate "C";
alter table notice add constraint notice_customer_check check (customer <> '') not valid;
-- A key that is bound to a customer sees and does only what is theirs.
alter table key add column customer text collate "C";
alter table key add constraint key_customer_check check (customer <> '') not valid;
