-- What a PUT subscribed at, as a hash: the next PUT there replaces the subscription.
alter table subscription add column resource text;
create unique index subscription_resource on subscription (app, resource)
  where resource is not null and state <> 'ended';
