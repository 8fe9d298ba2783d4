-- How many subscriptions of an app have not ended: what its quota is compared with, under the row's lock.
-- They are counted with 0015, which keeps nobody from reading.
alter table app add column subscriptions bigint not null default 0;
alter table app add constraint app_subscriptions_check check (subscriptions >= 0) not valid;
