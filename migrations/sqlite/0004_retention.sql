-- Subscriptions that have ended, the longest ago first: after the retention they go.
create index subscription_ended on subscription (ended_ms) where ended_ms is not null;
