-- How many subscriptions of an app have not ended: what its quota is compared with, under the row's lock.
alter table app add column subscriptions integer not null default 0 check (subscriptions >= 0);
update app set subscriptions =
  (select count(*) from subscription where subscription.app = app.no and state <> 'ended');
